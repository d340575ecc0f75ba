// The timeline: a row per location, a colour per function, as exact at every zoom as the index allows.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { readable, timeText } from '../data/format';
import { decodeTile, kBelow, kEmpty, levelFor, paint, type Tile } from '../data/tile';
import { binary, useAsk } from '../state/ask';
import { change, state, type State } from '../state/state';
import { colourOf } from '../theme/palette';
import { Failed } from '../widgets/Failed';
import { themeColour, useCanvas } from '../widgets/useCanvas';

interface TimelineData {
  origin_ns: string;
  span_ns: number;
  transitions: number;
  index_bytes: number;
  tile_rows: number;
  tile_bins: number;
  contexts: { name: string[]; parent: number[]; depth: number[]; paradigm: string[]; role: string[] };
  rows: { label: string[]; name: string[] };
  channels: string[];
}
interface At {
  open: { name: string; kind: string; begin_ns: number; end_ns?: number; detail: string }[];
}

const kNames = 180;
const kAxis = 24;

function rgbOf(hex: string): number[] {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

// The part of the trace that is shown, from the address.
function windowOf(of: State, span: number): [number, number] {
  const [from, to] = (of.rest['w'] ?? '').split('-').map(Number);
  return from !== undefined && to !== undefined && to > from ? [from, to] : [0, span];
}

// Pictures of tiles, kept while they may be needed again.
class Tiles {
  private readonly kept = new Map<string, { tile: Tile; picture: HTMLCanvasElement } | null>();
  requested = 0;
  constructor(
    private readonly ask: (r: number, k: number, i: number, depth: number) => Promise<ArrayBuffer>,
    private readonly palette: (context: number) => readonly number[],
    private readonly background: readonly number[],
    private readonly arrived: () => void,
  ) {}
  get(r: number, k: number, i: number, depth: number) {
    const key = `${r} ${k} ${i} ${depth}`;
    const known = this.kept.get(key);
    if (known !== undefined) return known;
    this.kept.set(key, null);
    ++this.requested;
    void this.ask(r, k, i, depth).then(
      (buffer) => {
        const tile = decodeTile(buffer);
        const picture = document.createElement('canvas');
        picture.width = tile.bins;
        picture.height = tile.rows;
        const context = picture.getContext('2d')!;
        const image = context.createImageData(tile.bins, tile.rows);
        paint(tile, this.palette, this.background, new Uint32Array(image.data.buffer));
        context.putImageData(image, 0, 0);
        this.kept.set(key, { tile, picture });
        const oldest = this.kept.keys().next().value;
        if (this.kept.size > 600 && oldest !== undefined) this.kept.delete(oldest);
        this.arrived();
      },
      () => this.kept.delete(key),
    );
    return null;
  }
  peek(r: number, k: number, i: number, depth: number) {
    return this.kept.get(`${r} ${k} ${i} ${depth}`) ?? null;
  }
}

export function Timeline() {
  const s = state.value;
  const channel = Number(s.rest['ch'] ?? -1);
  const depth = Number(s.rest['depth'] ?? 255);
  const asked = useAsk<TimelineData>(`${s.dataset}/timeline`, { channel });
  const data = asked.data;
  const [turn, setTurn] = useState(0);
  const [under, setUnder] = useState<{ row: number; ns: number; text: string } | null>(null);
  const [picked, setPicked] = useState<{ row: number; ns: number } | null>(null);
  const [drag, setDrag] = useState<[number, number] | null>(null);
  const [scroll, setScroll] = useState(0);
  const pushed = useRef(0);

  const span = Math.max(1, data?.span_ns ?? 1);
  const [from, to] = windowOf(s, span);
  const rows = data?.rows.label.length ?? 0;

  // Zooms replace the address while moving and push one entry when they rest, so that "back" undoes them.
  const zoomTo = (a: number, b: number) => {
    const width = Math.min(span, Math.max(8, b - a));
    const start = Math.min(Math.max(0, a), span - width);
    const w = `${Math.round(start)}-${Math.round(start + width)}`;
    const now = performance.now();
    change({ rest: { ...state.value.rest, w } }, now - pushed.current > 400);
    pushed.current = now;
  };
  const setRest = (part: Record<string, string>) => change({ rest: { ...s.rest, ...part } });

  const theme = document.documentElement.dataset['theme'] ?? '';
  const tiles = useMemo(() => {
    if (!data) return null;
    const background = rgbOf(themeColour('stripe'));
    const palette = (context: number) =>
      colourOf(
        data.contexts.name[context] ?? '',
        data.contexts.paradigm[context] ?? '',
        data.contexts.role[context] ?? '',
      );
    return new Tiles(
      (r, k, i, d) => binary(`${s.dataset}/tile`, { r, k, i, depth: d, channel }),
      palette,
      background,
      () => setTurn((t) => t + 1),
    );
  }, [data, channel, s.dataset, theme]);

  const rowHeight = Math.max(3, Math.min(18, rows > 120 ? 6 : 18));
  const { canvas, attach, width, height } = useCanvas(
    ({ context: c, width: w, height: h }) => {
      if (!data || !tiles) return;
      const left = kNames;
      const plot = Math.max(1, w - left);
      const perPixel = (to - from) / plot;
      const x = (ns: number) => left + (ns - from) / perPixel;
      c.imageSmoothingEnabled = false;
      const k = levelFor(perPixel);
      const bin = 2 ** k;
      const tileNs = bin * data.tile_bins;
      c.save();
      c.beginPath();
      c.rect(left, kAxis, plot, h - kAxis);
      c.clip();
      const firstRow = Math.floor(scroll / rowHeight);
      const lastRow = Math.min(rows, Math.ceil((scroll + h - kAxis) / rowHeight));
      for (let block = Math.floor(firstRow / data.tile_rows); block * data.tile_rows < lastRow; ++block) {
        for (let i = Math.floor(from / tileNs); i * tileNs < to; ++i) {
          let shown = tiles.get(block, k, i, depth);
          let level = k;
          let index = i;
          // Until it is there, a coarser neighbour stands in: never a blank.
          while (!shown && level < k + 8) {
            ++level;
            index = Math.floor(index / 2);
            shown = tiles.peek(block, level, index, depth);
          }
          if (!shown) continue;
          const begin = Math.max(i * tileNs, index * 2 ** level * data.tile_bins);
          const fraction = (begin - index * 2 ** level * data.tile_bins) / 2 ** level;
          const bins = tileNs / 2 ** level;
          c.drawImage(
            shown.picture,
            fraction,
            0,
            bins,
            shown.tile.rows,
            x(i * tileNs),
            kAxis + block * data.tile_rows * rowHeight - scroll,
            tileNs / perPixel,
            shown.tile.rows * rowHeight,
          );
        }
      }
      c.restore();
      if (rowHeight >= 6) {
        c.fillStyle = themeColour('background');
        for (let r = firstRow; r <= lastRow; ++r) c.fillRect(left, kAxis + r * rowHeight - scroll - 1, plot, 1);
      }
      // Names of rows.
      c.font = `12px ${themeColour('font')}`;
      c.textBaseline = 'middle';
      c.fillStyle = themeColour('background');
      c.fillRect(0, kAxis, left, h - kAxis);
      const every = Math.max(1, Math.ceil(14 / rowHeight));
      for (let r = firstRow; r < lastRow; ++r) {
        if (r % every) continue;
        c.fillStyle = themeColour(r === picked?.row ? 'accent' : 'text');
        const label = data.rows.name[r] || data.rows.label[r] || '';
        c.fillText(label.length > 26 ? `${label.slice(0, 25)}…` : label, 8, kAxis + (r + 0.5) * rowHeight - scroll);
      }
      // Axis.
      c.fillStyle = themeColour('raised');
      c.fillRect(0, 0, w, kAxis);
      c.strokeStyle = themeColour('line');
      c.beginPath();
      c.moveTo(0, kAxis - 0.5);
      c.lineTo(w, kAxis - 0.5);
      c.moveTo(left - 0.5, 0);
      c.lineTo(left - 0.5, h);
      c.stroke();
      c.fillStyle = themeColour('quiet');
      c.font = `11px ${themeColour('mono')}`;
      const raw = ((to - from) / plot) * 110;
      const size = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 5, 10].map((m) => m * size).find((v) => v >= raw) ?? raw;
      for (let t = Math.ceil(from / step) * step; t < to; t += step) {
        c.fillRect(x(t), kAxis - 6, 1, 6);
        c.fillText(timeText(t, to - from), x(t) + 4, kAxis / 2);
      }
      if (picked) {
        c.fillStyle = themeColour('accent');
        c.fillRect(x(picked.ns), kAxis, 1, h);
      }
      if (drag) {
        c.fillStyle = 'rgb(11 98 196 / 18%)';
        c.fillRect(x(Math.min(...drag)), kAxis, Math.abs(drag[1] - drag[0]) / perPixel, h);
        c.fillStyle = themeColour('accent');
        c.fillText(readable(Math.abs(drag[1] - drag[0]) / 1e9, 's'), x(Math.min(...drag)) + 4, kAxis + 10);
      }
    },
    [data, tiles, turn, from, to, depth, scroll, picked, drag, theme],
  );
  const detail = useAsk<At>(picked && channel < 0 ? `${s.dataset}/at` : null, {
    row: picked?.row,
    t: picked ? Math.round(picked.ns) : 0,
  });

  useEffect(() => {
    // From the address, not from what was drawn last: keys may come faster than pictures.
    const pan = (part: number) => {
      const [a, b] = windowOf(state.value, span);
      zoomTo(a + (b - a) * part, b + (b - a) * part);
    };
    const zoom = (factor: number) => {
      const [a, b] = windowOf(state.value, span);
      const middle = under && under.ns > a && under.ns < b ? under.ns : (a + b) / 2;
      zoomTo(middle - (middle - a) * factor, middle + (b - middle) * factor);
    };
    const keys: Record<string, () => void> = {
      KeyW: () => zoom(0.5),
      KeyS: () => zoom(2),
      Equal: () => zoom(0.5),
      Minus: () => zoom(2),
      KeyA: () => pan(-0.25),
      KeyD: () => pan(0.25),
      ArrowLeft: () => pan(-0.25),
      ArrowRight: () => pan(0.25),
      Digit0: () => zoomTo(0, span),
      BracketLeft: () => setRest({ depth: String(depth === 255 ? 8 : Math.max(0, depth - 1)) }),
      BracketRight: () => setRest({ depth: String(depth >= 16 ? 255 : depth + 1) }),
      KeyZ: () => history.back(),
    };
    const listener = (event: KeyboardEvent) => {
      if ((event.target as HTMLElement).matches('input, select') || event.ctrlKey || event.metaKey) return;
      const action = keys[event.code];
      if (!action) return;
      action();
      event.preventDefault();
    };
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  });

  if (asked.failure) return <Failed failure={asked.failure} again={asked.again} />;
  if (!data) return <div class="empty">Indexing the trace…</div>;
  if (!rows) return <div class="empty">This trace has no locations.</div>;

  const place = (event: MouseEvent) => {
    const box = canvas!.getBoundingClientRect();
    const px = event.clientX - box.left - kNames;
    const row = Math.floor((event.clientY - box.top - kAxis + scroll) / rowHeight);
    return {
      row,
      ns: from + ((to - from) * px) / Math.max(1, box.width - kNames),
      inside: px >= 0 && row >= 0 && row < rows,
    };
  };
  const cellAt = (row: number, ns: number): string => {
    const k = levelFor((to - from) / Math.max(1, width - kNames));
    const i = Math.floor(ns / (2 ** k * data.tile_bins));
    const shown = tiles?.peek(Math.floor(row / data.tile_rows), k, i, depth);
    if (!shown) return '';
    const at = (row % data.tile_rows) * shown.tile.bins + (Math.floor(ns / 2 ** k) - i * data.tile_bins);
    const cell = shown.tile.dominant[at] ?? kEmpty;
    if (cell === kEmpty) return 'nothing';
    const name = data.contexts.name[shown.tile.names[cell & ~kBelow] ?? 0] ?? '';
    return `${cell & kBelow ? 'somewhere below ' : ''}${name}, ${Math.round(((shown.tile.share[at] ?? 0) / 255) * 100)} % of this pixel`;
  };
  const deepest = Math.max(0, ...data.contexts.depth);
  return (
    <div class="split" style={{ gridTemplateColumns: 'minmax(0, 1fr) 320px' }}>
      <div class="pane">
        <div class="bar">
          <select aria-label="what" value={String(channel)} onChange={(e) => setRest({ ch: e.currentTarget.value })}>
            <option value="-1">what it does</option>
            {data.channels.map((title, i) => (
              <option key={title} value={String(i)}>
                {title}
              </option>
            ))}
          </select>
          <select aria-label="depth" value={String(depth)} onChange={(e) => setRest({ depth: e.currentTarget.value })}>
            <option value="255">innermost</option>
            {Array.from({ length: Math.min(deepest + 1, 40) }, (_, i) => (
              <option key={i} value={String(i)}>
                depth {i}
              </option>
            ))}
          </select>
          <button onClick={() => zoomTo(0, span)} title="0">
            Whole
          </button>
          {drag && (
            <button
              onClick={() => {
                zoomTo(Math.min(...drag), Math.max(...drag));
                setDrag(null);
              }}
            >
              Zoom to selection
            </button>
          )}
          <span class="spacer" />
          <span class="quiet number">
            {timeText(from, to - from)} – {timeText(to, to - from)} ({readable((to - from) / 1e9, 's')})
          </span>
        </div>
        <div
          class="stage"
          onWheel={(event) => {
            const at = place(event);
            if (event.ctrlKey || event.metaKey) {
              const factor = Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY / 300)));
              zoomTo(at.ns - (at.ns - from) * factor, at.ns + (to - at.ns) * factor);
            } else if (event.shiftKey) {
              const shift = ((event.deltaY || event.deltaX) / Math.max(1, width)) * (to - from);
              zoomTo(from + shift, to + shift);
            } else {
              setScroll(Math.max(0, Math.min(rows * rowHeight - (height - kAxis), scroll + event.deltaY)));
            }
            event.preventDefault();
          }}
        >
          <canvas
            ref={attach}
            class="canvas"
            tabIndex={0}
            role="img"
            aria-label={`timeline of ${rows} locations`}
            data-requested={tiles?.requested}
            data-window={`${from}-${to}`}
            onMouseDown={(event) => {
              const at = place(event);
              if (at.inside && event.button === 0) setDrag([at.ns, at.ns]);
            }}
            onMouseMove={(event) => {
              const at = place(event);
              if (drag && event.buttons & 1) setDrag([drag[0], Math.min(to, Math.max(from, at.ns))]);
              setUnder(at.inside ? { row: at.row, ns: at.ns, text: cellAt(at.row, at.ns) } : null);
            }}
            onMouseUp={(event) => {
              const at = place(event);
              const moved = drag ? Math.abs(drag[1] - drag[0]) / ((to - from) / Math.max(1, width)) : 0;
              if (moved < 4) {
                setDrag(null);
                if (at.inside) setPicked({ row: at.row, ns: at.ns });
              } else if (event.altKey && drag) {
                zoomTo(Math.min(...drag), Math.max(...drag));
                setDrag(null);
              }
            }}
            onDblClick={(event) => {
              const at = place(event);
              const inner = detail.data?.open[detail.data.open.length - 1];
              if (at.inside && inner?.end_ns !== undefined) {
                const room = (inner.end_ns - inner.begin_ns) * 0.1;
                zoomTo(inner.begin_ns - room, inner.end_ns + room);
              }
            }}
          />
        </div>
        <div class="detail" aria-live="polite">
          {under ? (
            <>
              <strong>{data.rows.name[under.row] || data.rows.label[under.row]}</strong>{' '}
              <span class="number">{timeText(under.ns, to - from)}</span> {under.text}
            </>
          ) : (
            <span class="quiet">
              {data.transitions.toLocaleString('en')} changes, index {readable(data.index_bytes, 'bytes')}. Ctrl+wheel
              zooms, drag selects.
            </span>
          )}
        </div>
      </div>
      <div class="pane" style={{ overflow: 'auto' }}>
        <div class="bar">
          <strong>At this moment</strong>
        </div>
        {!picked && <div class="empty">Click a place on the timeline.</div>}
        {detail.failure && <Failed failure={detail.failure} again={detail.again} />}
        {picked &&
          detail.data?.open
            .slice()
            .reverse()
            .map((call, i) => (
              <div
                key={i}
                style={{ padding: '8px 12px', borderBottom: '1px solid var(--line)' }}
                data-call={call.name}
                data-begin={call.begin_ns}
              >
                <strong>{call.name}</strong>
                <div class="number" style={{ textAlign: 'left' }}>
                  {timeText(call.begin_ns, to - from)}
                  {call.end_ns !== undefined ? `, ${readable((call.end_ns - call.begin_ns) / 1e9, 's')}` : ''}
                </div>
                {call.detail && (
                  <table class="plain">
                    <tbody>
                      {call.detail.split(';').map((pair) => (
                        <tr key={pair}>
                          <th>{pair.split('=')[0]}</th>
                          <td
                            class="number"
                            style={{ textAlign: 'left', whiteSpace: 'normal', overflowWrap: 'anywhere' }}
                          >
                            {pair.slice(pair.indexOf('=') + 1)}
                          </td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                )}
              </div>
            ))}
      </div>
    </div>
  );
}
