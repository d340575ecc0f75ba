// How long the calls of one function are; a range of them as a list; a call on the timeline.
import { useState } from 'preact/hooks';
import { readable, timeText } from '../data/format';
import { useAsk } from '../state/ask';
import { Failed } from '../widgets/Failed';
import { themeColour, useCanvas } from '../widgets/useCanvas';
import type { Query } from '../data/source';

export interface Durations {
  name: string;
  count: number;
  bins: { from_ns: number; to_ns: number; count: number; sum_ns: number }[];
  calls: [number, number, number][]; // row, begin, length
}

// Powers of 2 between which all lengths lie.
function rangeOf(bins: Durations['bins']): [number, number] {
  const low = Math.log2(Math.max(1, bins[0]!.from_ns));
  const high = Math.log2(Math.max(2, bins[bins.length - 1]!.to_ns));
  const more = Math.max(0, 2 - (high - low)) / 2;
  return [low - more, high + more];
}

export function DurationsTab(p: {
  dataset: number;
  query: Query;
  region: number;
  regions: [number, string][];
  focus: (region: number) => void;
  rowName: (row: number) => string;
  jump: (row: number, begin: number, length: number) => void;
  theme: string;
  span: number;
}) {
  const [by, setBy] = useState<'count' | 'sum_ns'>('count');
  const [log, setLog] = useState(true);
  const [range, setRange] = useState<[number, number] | null>(null);
  const asked = useAsk<Durations>(p.region >= 0 ? `${p.dataset}/durations` : null, {
    ...p.query,
    region: p.region,
    from: range ? Math.ceil(range[0]) : undefined,
    to: range ? Math.floor(range[1]) : undefined,
    most: 300,
  });
  const data = p.region >= 0 ? asked.data : null;
  // At least a factor of 4 is in sight, so that calls of one length are a bar and no wall.
  const lengths = data?.bins.length ? rangeOf(data.bins) : null;
  const { canvas, attach } = useCanvas(
    ({ context: c, width: w, height: h }) => {
      c.clearRect(0, 0, w, h);
      if (!data || !lengths) return;
      const [low, high] = lengths;
      const x = (ns: number) => 8 + ((w - 16) * (Math.log2(Math.max(1, ns)) - low)) / (high - low);
      const most = Math.max(...data.bins.map((b) => b[by]));
      const plot = h - 20;
      const size = (value: number) => (value <= 0 ? 0 : log ? Math.log(1 + value) / Math.log(1 + most) : value / most);
      for (const b of data.bins) {
        const inside = !range || (b.to_ns > range[0] && b.from_ns < range[1]);
        c.fillStyle = inside ? themeColour('accent') : themeColour('line');
        const tall = size(b[by]) * (plot - 4);
        c.fillRect(x(b.from_ns), plot - tall, Math.max(1, x(b.to_ns) - x(b.from_ns) - 1), tall);
      }
      c.fillStyle = themeColour('quiet');
      c.font = `11px ${themeColour('mono')}`;
      c.textBaseline = 'top';
      for (let e = Math.ceil(Math.log10(2 ** low)); 10 ** e <= 2 ** high; ++e) {
        c.fillRect(x(10 ** e), plot, 1, 4);
        c.fillText(readable(10 ** e / 1e9, 's'), x(10 ** e) + 3, plot + 5);
      }
    },
    [data, by, log, range, p.theme],
  );
  const pick = (event: MouseEvent) => {
    if (!data || !lengths || !canvas) return;
    const box = canvas.getBoundingClientRect();
    const [low, high] = lengths;
    const ns = 2 ** (low + ((high - low) * (event.clientX - box.left - 8)) / (box.width - 16));
    const bin = data.bins.find((b) => ns >= b.from_ns && ns < b.to_ns);
    if (!bin) return setRange(null);
    // Shift widens the range that is chosen.
    if (event.shiftKey && range) setRange([Math.min(range[0], bin.from_ns), Math.max(range[1], bin.to_ns)]);
    else setRange([bin.from_ns, bin.to_ns]);
  };
  return (
    <>
      <div class="bar">
        <select
          aria-label="function"
          value={String(p.region)}
          onChange={(e) => p.focus(Number(e.currentTarget.value))}
          style={{ maxWidth: '280px' }}
        >
          <option value="-1">choose a function</option>
          {p.regions.map(([id, name]) => (
            <option key={id} value={String(id)}>
              {name}
            </option>
          ))}
        </select>
        <select
          aria-label="height of bars"
          value={by}
          onChange={(e) => setBy(e.currentTarget.value as 'count' | 'sum_ns')}
        >
          <option value="count">calls</option>
          <option value="sum_ns">time</option>
        </select>
        <button aria-pressed={log} onClick={() => setLog(!log)}>
          log
        </button>
        {range && <button onClick={() => setRange(null)}>All lengths</button>}
        <span class="spacer" />
        {data && (
          <span class="quiet" data-calls={data.count}>
            {data.count.toLocaleString('en')} calls
          </span>
        )}
      </div>
      {asked.failure && <Failed failure={asked.failure} again={asked.again} />}
      {p.region < 0 ? (
        <div class="empty">Choose a function here, or click one in the selection table.</div>
      ) : data && !data.count ? (
        <div class="empty">{data.name} is not called in this part: samples have no calls.</div>
      ) : (
        <div class="split" style={{ gridTemplateColumns: 'minmax(0,1fr) 380px' }}>
          <div class="pane" style={{ padding: '8px' }}>
            <div class="stage">
              <canvas ref={attach} class="canvas" role="img" aria-label="lengths of calls" onClick={pick} />
            </div>
          </div>
          <div class="pane" style={{ overflow: 'auto' }}>
            <table class="plain legend">
              <thead>
                <tr>
                  <th>row</th>
                  <th class="number">begin</th>
                  <th class="number">length</th>
                </tr>
              </thead>
              <tbody>
                {(data?.calls ?? []).map(([row, begin, length]) => (
                  <tr key={`${row} ${begin}`} data-call-length={length} onClick={() => p.jump(row, begin, length)}>
                    <td class="cut" style={{ maxWidth: '130px' }}>
                      {p.rowName(row)}
                    </td>
                    <td class="number">{timeText(begin, p.span)}</td>
                    <td class="number">{readable(length / 1e9, 's')}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </div>
      )}
    </>
  );
}
