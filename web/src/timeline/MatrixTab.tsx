// Who sends to whom in the window.
import { useMemo, useState } from 'preact/hooks';
import { csvCell, readable } from '../data/format';
import { useAsk } from '../state/ask';
import { Failed } from '../widgets/Failed';
import { themeColour, useCanvas } from '../widgets/useCanvas';
import type { Query } from '../data/source';

interface MatrixData {
  ranks: number;
  per_cell: number;
  messages: number;
  bytes: number;
  span_ns: number;
  cells: [number, number, number, number, number | null][];
  nodes: string[];
}
type What = 'bytes' | 'messages' | 'latency' | 'rate';
const kWhat: [What, string][] = [
  ['bytes', 'bytes'],
  ['messages', 'messages'],
  ['latency', 'mean time on the way'],
  ['rate', 'bytes per second'],
];
interface Cell {
  from: number;
  to: number;
  messages: number;
  bytes: number;
  latency: number | null;
}

export function MatrixTab(p: {
  dataset: number;
  query: Query;
  theme: string;
  show: (src: number, dst: number) => void;
}) {
  const asked = useAsk<MatrixData>(`${p.dataset}/matrix`, p.query);
  const [what, setWhat] = useState<What>('bytes');
  const [byNode, setByNode] = useState(false);
  const [log, setLog] = useState(false);
  const [under, setUnder] = useState<Cell | null>(null);
  const data = asked.data;
  const { cells, names, size } = useMemo(() => {
    if (!data) return { cells: [] as Cell[], names: [] as string[], size: 0 };
    if (!byNode) {
      const size = Math.ceil(data.ranks / data.per_cell);
      return {
        cells: data.cells.map(([from, to, messages, bytes, latency]) => ({ from, to, messages, bytes, latency })),
        names: Array.from({ length: size }, (_, i) =>
          data.per_cell > 1
            ? `ranks ${i * data.per_cell}–${Math.min(data.ranks, (i + 1) * data.per_cell) - 1}`
            : `rank ${i}`,
        ),
        size,
      };
    }
    const names = [...new Set(data.nodes)];
    const sums = new Map<string, Cell & { weight: number }>();
    for (const [from, to, messages, bytes, latency] of data.cells) {
      const a = names.indexOf(data.nodes[from * data.per_cell] ?? '');
      const b = names.indexOf(data.nodes[to * data.per_cell] ?? '');
      const key = `${a} ${b}`;
      const cell = sums.get(key) ?? { from: a, to: b, messages: 0, bytes: 0, latency: null, weight: 0 };
      cell.messages += messages;
      cell.bytes += bytes;
      if (latency !== null) {
        cell.latency = ((cell.latency ?? 0) * cell.weight + latency * messages) / (cell.weight + messages);
        cell.weight += messages;
      }
      sums.set(key, cell);
    }
    return { cells: [...sums.values()], names, size: names.length };
  }, [data, byNode]);
  const value = (c: Cell) =>
    what === 'bytes'
      ? c.bytes
      : what === 'messages'
        ? c.messages
        : what === 'latency'
          ? (c.latency ?? 0)
          : data
            ? c.bytes / (data.span_ns / 1e9)
            : 0;
  const shown = (v: number) =>
    what === 'messages'
      ? v.toLocaleString('en')
      : what === 'latency'
        ? readable(v / 1e9, 's')
        : `${readable(v, 'bytes')}${what === 'rate' ? '/s' : ''}`;
  const most = Math.max(0, ...cells.map(value));
  const side = 84;
  const { canvas, attach, width, height } = useCanvas(
    ({ context: c, width: w, height: h }) => {
      c.clearRect(0, 0, w, h);
      if (!size) return;
      const cell = Math.max(1, Math.min(28, (Math.min(w - side, h - 22) - 24) / size));
      const rows = new Float64Array(size);
      const columns = new Float64Array(size);
      c.fillStyle = themeColour('stripe');
      c.fillRect(side, 22, cell * size, cell * size);
      for (const one of cells) {
        const v = value(one);
        rows[one.from]! += v;
        columns[one.to]! += v;
        if (!(v > 0)) continue;
        const part = log ? Math.log(1 + v) / Math.log(1 + most) : v / most;
        c.globalAlpha = 0.12 + 0.88 * part;
        c.fillStyle = themeColour('accent');
        c.fillRect(
          side + one.to * cell,
          22 + one.from * cell,
          Math.max(1, cell - (cell > 5 ? 1 : 0)),
          Math.max(1, cell - (cell > 5 ? 1 : 0)),
        );
      }
      c.globalAlpha = 1;
      // Sums at the margins; of means there is none.
      if (what !== 'latency') {
        const high = Math.max(...rows, ...columns, 1e-9);
        c.fillStyle = themeColour('quiet');
        for (let i = 0; i < size; ++i) {
          c.fillRect(side + cell * size + 4, 22 + i * cell, (18 * rows[i]!) / high, Math.max(1, cell - 1));
          c.fillRect(side + i * cell, 22 + cell * size + 4, Math.max(1, cell - 1), (18 * columns[i]!) / high);
        }
      }
      c.fillStyle = themeColour('quiet');
      c.font = `11px ${themeColour('font')}`;
      c.textBaseline = 'middle';
      const every = Math.max(1, Math.ceil(14 / cell));
      for (let i = 0; i < size; i += every) c.fillText((names[i] ?? '').slice(0, 12), 4, 22 + (i + 0.5) * cell);
      c.fillText('from ↓   to →', side, 10);
      if (under) {
        c.strokeStyle = themeColour('text');
        c.strokeRect(side + under.to * cell - 0.5, 22 + under.from * cell - 0.5, cell + 1, cell + 1);
      }
    },
    [cells, what, log, under, p.theme, names],
  );
  const at = (event: MouseEvent): Cell | null => {
    if (!canvas || !size) return null;
    const box = canvas.getBoundingClientRect();
    const cell = Math.max(1, Math.min(28, (Math.min(width - side, height - 22) - 24) / size));
    const to = Math.floor((event.clientX - box.left - side) / cell);
    const from = Math.floor((event.clientY - box.top - 22) / cell);
    if (from < 0 || to < 0 || from >= size || to >= size) return null;
    return cells.find((c) => c.from === from && c.to === to) ?? { from, to, messages: 0, bytes: 0, latency: null };
  };
  if (asked.failure) return <Failed failure={asked.failure} again={asked.again} />;
  if (!data) return <div class="empty">Counting messages…</div>;
  if (!data.cells.length)
    return <div class="empty">No point-to-point messages between known ranks in this part of the trace.</div>;
  const csv = () =>
    [
      'from,to,messages,bytes,mean_ns',
      ...cells.map((c) =>
        [names[c.from], names[c.to], c.messages, c.bytes, c.latency ?? ''].map((v) => csvCell(String(v))).join(','),
      ),
    ].join('\n');
  return (
    <>
      <div class="bar">
        <select aria-label="what cells show" value={what} onChange={(e) => setWhat(e.currentTarget.value as What)}>
          {kWhat.map(([key, title]) => (
            <option key={key} value={key}>
              {title}
            </option>
          ))}
        </select>
        <button aria-pressed={byNode} onClick={() => setByNode(!byNode)} disabled={new Set(data.nodes).size < 2}>
          by node
        </button>
        <button aria-pressed={log} onClick={() => setLog(!log)}>
          log
        </button>
        <span data-matrix-messages={data.messages} data-matrix-bytes={data.bytes}>
          {under
            ? `${names[under.from]} → ${names[under.to]}: ${under.messages.toLocaleString('en')} messages, ${readable(under.bytes, 'bytes')}${under.latency === null ? '' : `, ${readable(under.latency / 1e9, 's')} on the way`}`
            : `${data.messages.toLocaleString('en')} messages, ${readable(data.bytes, 'bytes')}; largest cell: ${shown(most)}`}
        </span>
        <span class="spacer" />
        <button onClick={() => void navigator.clipboard?.writeText(csv())}>Copy CSV</button>
      </div>
      <div class="stage" style={{ margin: '4px 8px' }}>
        <canvas
          ref={attach}
          class="canvas"
          role="img"
          aria-label={`communication matrix of ${size} by ${size}`}
          data-cells={JSON.stringify(data.cells.slice(0, 400))}
          onMouseMove={(e) => setUnder(at(e))}
          onMouseLeave={() => setUnder(null)}
          onClick={(e) => {
            const cell = at(e);
            if (cell && !byNode && data.per_cell === 1) p.show(cell.from, cell.to);
          }}
        />
      </div>
    </>
  );
}
