// The rows of a timeline over time: tiles, names in boxes, messages, collectives, waits, marks, selection.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { readable } from '../data/format';
import { kBelow, kEmpty } from '../data/tile';
import { levelOf, tileRows, type Mark, type Row, type TimelineData } from '../data/timeline';
import { drawArea, drawAxis, drawMoment, drawNames, kAxis, kNames, type Area } from './frame';
import { drawBelow, drawMissing, isMissing } from './hatches';
import { drawHeat, drawLegend, heatSummary, heatText, useHeat, type HeatChoice } from './heat';
import { drawBoxLabels, drawCollectives, drawMarks, drawMessages, drawWaits, messageAt, type Place } from './overlays';
import type { Collectives, Messages, Waits } from './overlays';
import type { Tiles } from '../draw/tiles';
import { themeColour, useCanvas } from '../widgets/useCanvas';

export interface Spot {
  row: number; // position in the list of rows
  ns: number;
}
export interface Hover extends Spot {
  text: string;
  message: number[] | null;
}

interface Props {
  data: TimelineData;
  rows: Row[];
  tiles: Tiles;
  from: number;
  to: number;
  span: number;
  turn: number;
  theme: string;
  palette: (context: number) => readonly number[];
  picked: Spot | null;
  area: Area | null;
  marks: Mark[];
  messages: Messages | null;
  collectives: Collectives | null;
  waits: Waits | null;
  heat: HeatChoice | null; // colours by a value instead of by what is done
  labels: boolean;
  tint?: string;
  zoomTo: (from: number, to: number) => void;
  pick: (spot: Spot | null, message: number[] | null) => void;
  select: (area: Area | null) => void;
  fit: (spot: Spot) => void;
  toggle: (row: Row) => void;
  hover: (at: Hover | null) => void;
  shift?: (ns: number) => void; // Alt+Shift+drag moves this trace against the others
  attached?: (canvas: HTMLCanvasElement | null) => void;
}

export function heightOf(rows: number): number {
  return rows > 400 ? 4 : rows > 120 ? 8 : rows > 12 ? 18 : 24;
}

export function Chart(p: Props) {
  const { data, rows, tiles, from, to, span } = p;
  const [scroll, setScroll] = useState(0);
  const drag = useRef<{
    x: number;
    y: number;
    ns: number;
    row: number;
    mode: 'area' | 'pan' | 'shift';
    from: number;
    to: number;
  } | null>(null);
  const [moving, setMoving] = useState<Area | null>(null);
  const rowHeight = heightOf(rows.length);
  const blocks = useMemo(() => {
    const out: { rows: string; r: number; list: Row[] }[] = [];
    // Ranks that are missing stand at the end: there is nothing to ask for.
    const there = rows.filter((row) => row.members.length > 0);
    const natural =
      there.length === data.rows.label.length && there.every((row, i) => row.group < 0 && row.id === String(i));
    for (let i = 0; i < there.length; i += data.tile_rows) {
      const list = there.slice(i, i + data.tile_rows);
      // Headings of open groups have no picture of their own: they stand for nothing.
      out.push({ rows: natural ? '' : tileRows(list), r: natural ? i / data.tile_rows : 0, list });
    }
    return out;
  }, [rows, data.tile_rows]);
  const positions = useMemo(() => {
    const where = new Map<number, number>();
    rows.forEach((row, i) => {
      if (row.group < 0 || !row.open) for (const m of row.members) if (!where.has(m)) where.set(m, i);
    });
    return where;
  }, [rows]);
  const area = moving ?? p.area;
  const [stageHeight, setStageHeight] = useState(0);
  const heat = useHeat(
    p.heat,
    rows,
    Math.max(0, Math.floor(scroll / rowHeight)),
    Math.min(rows.length, Math.ceil((scroll + stageHeight) / rowHeight)),
    from,
    to,
  );

  const geometry = (w: number, h: number): Place => {
    const plot = Math.max(1, w - kNames);
    const perPixel = (to - from) / plot;
    return {
      left: kNames,
      top: kAxis,
      width: plot,
      height: h - kAxis,
      rowHeight,
      perPixel,
      x: (ns) => kNames + (ns - from) / perPixel,
      y: (position) => kAxis + position * rowHeight - scroll,
      rowOf: (location) => positions.get(location) ?? -1,
      from,
      to,
    };
  };

  const { canvas, attach, width, height } = useCanvas(
    ({ context: c, width: w, height: h }) => {
      const at = geometry(w, h);
      const k = levelOf(data, at.perPixel);
      const tileNs = 2 ** k * data.tile_bins;
      c.imageSmoothingEnabled = false;
      c.fillStyle = themeColour('background');
      c.fillRect(0, 0, w, h);
      c.save();
      c.beginPath();
      c.rect(at.left, at.top, at.width, at.height);
      c.clip();
      c.fillStyle = themeColour('stripe');
      c.fillRect(at.left, at.top, at.width, Math.min(at.height, rows.length * rowHeight - scroll));
      const firstRow = Math.max(0, Math.floor(scroll / rowHeight));
      const lastRow = Math.min(rows.length, Math.ceil((scroll + at.height) / rowHeight));
      const drawn: Parameters<typeof drawBoxLabels>[2] = [];
      if (p.heat && heat) drawHeat(c, at, heat);
      const lastBlock = p.heat ? 0 : Math.min(blocks.length, Math.ceil(lastRow / data.tile_rows));
      for (let b = Math.floor(firstRow / data.tile_rows); b < lastBlock; ++b) {
        const block = blocks[b]!;
        for (let i = Math.max(0, Math.floor(from / tileNs)); i * tileNs < to; ++i) {
          const found = tiles.best({ rows: block.rows, r: block.r, k, i });
          if (!found) continue;
          const { shown } = found;
          const size = 2 ** found.k;
          const begin = (i * tileNs - found.i * size * data.tile_bins) / size;
          c.drawImage(
            shown.picture,
            begin,
            0,
            tileNs / size,
            shown.tile.rows,
            at.x(i * tileNs),
            at.y(b * data.tile_rows),
            tileNs / at.perPixel,
            shown.tile.rows * rowHeight,
          );
          if (found.k === k) drawn.push({ tile: shown.tile, first: b * data.tile_rows, from: i * tileNs });
        }
      }
      // Headings of open groups, and a hairline between rows.
      for (let r = firstRow; r < lastRow; ++r) {
        const row = rows[r]!;
        if (row.group >= 0 && row.open) {
          c.fillStyle = themeColour('raised');
          c.fillRect(at.left, at.y(r), at.width, rowHeight);
        }
      }
      if (rowHeight >= 6) {
        c.fillStyle = themeColour('background');
        for (let r = firstRow; r <= lastRow; ++r) c.fillRect(at.left, at.y(r) - 1, at.width, 1);
      }
      if (rowHeight >= 6) drawBelow(c, at, drawn, firstRow, lastRow);
      drawMissing(c, at, data, rows, firstRow, lastRow);
      if (p.labels && rowHeight >= 14) drawBoxLabels(c, at, drawn, rows, data, p.palette, firstRow, lastRow);
      if (p.waits) drawWaits(c, at, p.waits);
      if (p.collectives) drawCollectives(c, at, p.collectives);
      if (p.messages) drawMessages(c, at, p.messages);
      if (p.tint) {
        c.fillStyle = p.tint;
        c.fillRect(at.left, at.top, at.width, at.height);
      }
      if (area) drawArea(c, at, h, area);
      drawMarks(c, at, p.marks);
      if (p.picked) {
        drawMoment(c, at.x(p.picked.ns), at.top, at.height);
        c.strokeStyle = themeColour('accent');
        c.strokeRect(at.left + 0.5, at.y(p.picked.row) - 0.5, at.width - 1, rowHeight);
      }
      c.restore();
      drawNames(c, at, rows, firstRow, lastRow, p.picked?.row ?? -1);
      drawAxis(c, at, w, h, area);
      if (p.heat && heat && !heat.why) drawLegend(c, heat, kNames - 1, kAxis);
    },
    [
      data,
      tiles,
      rows,
      p.turn,
      from,
      to,
      scroll,
      p.picked,
      area,
      p.theme,
      p.marks,
      p.messages,
      p.collectives,
      p.waits,
      p.labels,
      p.palette,
      heat?.rows,
    ],
  );
  useEffect(() => setStageHeight(Math.max(0, height - kAxis)), [height]);
  useEffect(() => p.attached?.(canvas), [canvas]);

  // The picked row is in sight.
  useEffect(() => {
    if (!p.picked || !height) return;
    const y = p.picked.row * rowHeight;
    if (y < scroll) setScroll(y);
    else if (y + rowHeight > scroll + height - kAxis) setScroll(y + rowHeight - (height - kAxis));
  }, [p.picked?.row]);
  const most = Math.max(0, rows.length * rowHeight - (height - kAxis));
  useEffect(() => {
    if (scroll > most) setScroll(most);
  }, [most]);

  const spot = (event: MouseEvent) => {
    const box = canvas!.getBoundingClientRect();
    const px = event.clientX - box.left - kNames;
    const py = event.clientY - box.top;
    const row = Math.floor((py - kAxis + scroll) / rowHeight);
    return {
      row,
      ns: from + ((to - from) * px) / Math.max(1, box.width - kNames),
      px: px + kNames,
      py,
      axis: py < kAxis && px >= 0,
      names: px < 0 && row >= 0 && row < rows.length,
      inside: px >= 0 && py >= kAxis && row >= 0 && row < rows.length,
    };
  };
  const cellAt = (position: number, ns: number): string => {
    if (p.heat) return heat ? (heat.why ?? heatText(heat, position, ns)) : '';
    const row = rows[position];
    if (row && isMissing(data, row)) return 'no events of this location';
    const k = levelOf(data, (to - from) / Math.max(1, width - kNames));
    const i = Math.floor(ns / (2 ** k * data.tile_bins));
    const block = blocks[Math.floor(position / data.tile_rows)];
    const shown = block && tiles.peek({ rows: block.rows, r: block.r, k, i });
    if (!shown) return '';
    const at = (position % data.tile_rows) * shown.tile.bins + (Math.floor(ns / 2 ** k) - i * data.tile_bins);
    const cell = shown.tile.dominant[at] ?? kEmpty;
    if (cell === kEmpty) return 'nothing';
    const name = data.contexts.name[shown.tile.names[cell & ~kBelow] ?? 0] ?? '';
    const calls = shown.tile.calls[at] ?? 0;
    return (
      `${cell & kBelow ? 'somewhere below ' : ''}${name}, ${Math.round(((shown.tile.share[at] ?? 0) / 255) * 100)} % of this pixel` +
      (calls > 2 ? `, about ${2 ** (calls - 1)} changes` : '') +
      (shown.tile.exact ? '' : ' ≈')
    );
  };
  const moved = (event: MouseEvent, d: { x: number; y: number }) =>
    Math.hypot(event.clientX - d.x, event.clientY - d.y);

  return (
    <div
      class="stage"
      data-heat-why={heat?.why}
      onWheel={(event) => {
        const at = spot(event);
        if (event.ctrlKey || event.metaKey) {
          const factor = Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY / 300)));
          p.zoomTo(at.ns - (at.ns - from) * factor, at.ns + (to - at.ns) * factor);
        } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          const shift =
            ((event.shiftKey ? event.deltaY || event.deltaX : event.deltaX) / Math.max(1, width)) * (to - from);
          p.zoomTo(from + shift, to + shift);
        } else {
          setScroll(Math.max(0, Math.min(most, scroll + event.deltaY)));
        }
        event.preventDefault();
      }}
    >
      <canvas
        ref={attach}
        class="canvas"
        tabIndex={0}
        role="img"
        aria-label={`timeline of ${rows.length} rows, ${readable(span / 1e9, 's')}`}
        data-requested={tiles.requested}
        data-window={`${Math.round(from)}-${Math.round(to)}`}
        data-rows={rows.length}
        data-missing={rows.filter((row) => isMissing(data, row)).length}
        data-bands={p.collectives ? JSON.stringify(p.collectives.collectives) : undefined}
        data-heat={p.heat && heat ? heatSummary(p.heat, heat) : undefined}
        onMouseDown={(event) => {
          const at = spot(event);
          if (at.names) {
            const row = rows[at.row]!;
            if (row.group >= 0) p.toggle(row);
            else p.pick({ row: at.row, ns: p.picked?.ns ?? (from + to) / 2 }, null);
            return;
          }
          if (!at.inside && !at.axis) return;
          const mode =
            event.altKey && event.shiftKey && p.shift ? 'shift' : event.button === 1 || event.shiftKey ? 'pan' : 'area';
          drag.current = { x: event.clientX, y: event.clientY, ns: at.ns, row: at.axis ? -1 : at.row, mode, from, to };
          if (event.button === 1) event.preventDefault();
        }}
        onMouseMove={(event) => {
          const at = spot(event);
          const d = drag.current;
          if (d && event.buttons) {
            const ns = ((event.clientX - d.x) / Math.max(1, width - kNames)) * (d.to - d.from);
            if (d.mode === 'pan') p.zoomTo(d.from - ns, d.to - ns);
            else if (d.mode === 'shift') {
              p.shift?.(ns);
              d.x = event.clientX;
            } else if (moved(event, d) >= 4) {
              const there = Math.max(from, Math.min(to, at.ns));
              const last = Math.max(0, Math.min(rows.length - 1, at.row));
              setMoving({
                from: Math.min(d.ns, there),
                to: Math.max(d.ns, there),
                first: d.row < 0 ? 1 : Math.min(d.row, last),
                last: d.row < 0 ? 0 : Math.max(d.row, last),
              });
            }
            return;
          }
          const message = p.messages && at.inside ? messageAt(geometry(width, height), p.messages, at.px, at.py) : null;
          p.hover(at.inside ? { row: at.row, ns: at.ns, text: cellAt(at.row, at.ns), message } : null);
        }}
        onMouseLeave={() => p.hover(null)}
        onMouseUp={(event) => {
          const at = spot(event);
          const d = drag.current;
          drag.current = null;
          if (!d) return;
          if (d.mode !== 'area') return;
          if (moved(event, d) < 4) {
            setMoving(null);
            p.select(null);
            const message = p.messages ? messageAt(geometry(width, height), p.messages, at.px, at.py) : null;
            if (at.inside) p.pick({ row: at.row, ns: at.ns }, message);
          } else if (event.altKey) {
            if (moving) p.zoomTo(moving.from, moving.to);
            setMoving(null);
          } else {
            p.select(moving);
            setMoving(null);
          }
        }}
        onDblClick={(event) => {
          const at = spot(event);
          if (at.inside) p.fit({ row: at.row, ns: at.ns });
        }}
      />
      {most > 0 && (
        <div
          class="rowscroll"
          style={{ top: `${kAxis}px` }}
          ref={(bar) => {
            if (bar && Math.abs(bar.scrollTop - scroll) > 1) bar.scrollTop = scroll;
          }}
          onScroll={(event) => setScroll(Math.min(most, event.currentTarget.scrollTop))}
        >
          <div style={{ height: `${rows.length * rowHeight}px` }} />
        </div>
      )}
    </div>
  );
}
