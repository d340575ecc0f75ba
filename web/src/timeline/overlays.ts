// What is drawn over the rows of a timeline.
import { readable } from '../data/format';
import type { Tile } from '../data/tile';
import type { Mark, Row, TimelineData } from '../data/timeline';
import { stretches } from '../draw/tiles';
import { inkOn } from '../theme/palette';
import { themeColour } from '../widgets/useCanvas';
import { cut } from './frame';

// Where things lie on the canvas.
export interface Place {
  left: number;
  top: number;
  width: number;
  height: number;
  rowHeight: number;
  perPixel: number;
  x: (ns: number) => number;
  y: (position: number) => number;
  rowOf: (location: number) => number; // -1: not shown
  from: number;
  to: number;
}

// From, to, sent, received, bytes, tag, communicator, ranks of both. Bundles: blocks of rows, sent, received, count,
// bytes, mean time on the way.
export interface Messages {
  all: number;
  count: number;
  bytes: number;
  untimed: number;
  messages?: number[][];
  bundles?: number[][];
  row_block?: number;
  communicators: string[];
}
// Name, first enter, last leave, last enter, row that came last, members, first and last row, waiting share.
export interface Collectives {
  count: number;
  why?: string; // there are none
  collectives: [string, number, number, number, number, number, number, number, number][];
}
// Row, begin, end, kind, row that it waited for, call.
export interface Waits {
  count: number;
  why?: string; // there are none
  sum_ns: number;
  kinds: { kind: string; count: number; ns: number }[];
  waits: [number, number, number, string, number, string][];
}

export function drawBoxLabels(
  c: CanvasRenderingContext2D,
  at: Place,
  drawn: { tile: Tile; first: number; from: number }[],
  rows: Row[],
  data: TimelineData,
  palette: (context: number) => readonly number[],
  firstRow: number,
  lastRow: number,
): void {
  c.font = `11px ${themeColour('font')}`;
  c.textBaseline = 'middle';
  // Boxes go on over the borders of tiles.
  const last = new Map<number, { x0: number; x1: number; context: number }>();
  const write = (position: number, box: { x0: number; x1: number; context: number }) => {
    if (box.x1 - box.x0 < 28) return;
    const text = cut(c, data.contexts.name[box.context] ?? '', box.x1 - box.x0 - 8);
    if (!text) return;
    c.fillStyle = inkOn(palette(box.context));
    c.fillText(text, box.x0 + 4, at.y(position) + at.rowHeight / 2);
  };
  for (const { tile, first, from } of drawn) {
    const bin = 2 ** tile.k;
    for (let r = Math.max(0, firstRow - first); r < tile.rows && first + r < lastRow; ++r) {
      const row = rows[first + r];
      if (!row || (row.group >= 0 && row.open)) continue;
      for (const box of stretches(tile, r)) {
        const x0 = Math.max(at.left, at.x(from + box.from * bin));
        const x1 = Math.min(at.left + at.width, at.x(from + box.to * bin));
        if (x1 <= x0) continue;
        const before = last.get(first + r);
        if (before && before.context === box.context && x0 - before.x1 < 1) {
          before.x1 = x1;
          continue;
        }
        if (before) write(first + r, before);
        last.set(first + r, { x0, x1, context: box.context });
      }
    }
  }
  for (const [position, box] of last) write(position, box);
}

function ends(at: Place, m: number[]): [number, number, number, number] | null {
  const from = at.rowOf(m[0]!);
  const to = at.rowOf(m[1]!);
  if (from < 0 || to < 0) return null;
  const half = at.rowHeight / 2;
  return [at.x(m[2]!), at.y(from) + half, at.x(m[3]!), at.y(to) + half];
}

function blockEnds(at: Place, b: number[], size: number): [number, number, number, number] | null {
  const middle = (block: number) => {
    for (let i = 0; i < size; ++i) {
      const first = at.rowOf(block * size + i);
      if (first < 0) continue;
      let last = first;
      for (let j = size - 1; j > i; --j) {
        const found = at.rowOf(block * size + j);
        if (found < 0) continue;
        last = found;
        break;
      }
      return at.y((first + last) / 2) + at.rowHeight / 2;
    }
    return null;
  };
  const y0 = middle(b[0]!);
  const y1 = middle(b[1]!);
  return y0 === null || y1 === null ? null : [at.x(b[2]!), y0, at.x(b[3]!), y1];
}

export function drawMessages(c: CanvasRenderingContext2D, at: Place, m: Messages): void {
  if (m.messages) {
    c.strokeStyle = themeColour('text');
    c.globalAlpha = m.messages.length > 400 ? 0.35 : 0.75;
    c.lineWidth = 1;
    c.beginPath();
    for (const message of m.messages) {
      const e = ends(at, message);
      if (!e) continue;
      c.moveTo(e[0], e[1]);
      c.lineTo(e[2], e[3]);
    }
    c.stroke();
    // A dot where each arrives, as long as there is room for them.
    c.fillStyle = themeColour('text');
    if (m.messages.length < 500)
      for (const message of m.messages) {
        const e = ends(at, message);
        if (e) c.fillRect(e[2] - 1.5, e[3] - 1.5, 3, 3);
      }
    c.globalAlpha = 1;
    return;
  }
  const most = Math.max(1, ...(m.bundles ?? []).map((b) => b[4]!));
  const longest = Math.max(1, ...(m.bundles ?? []).map((b) => b[6]!));
  for (const b of m.bundles ?? []) {
    const e = blockEnds(at, b, m.row_block ?? 1);
    if (!e) continue;
    const slow = b[6]! / longest;
    c.strokeStyle = `rgb(${Math.round(70 + 150 * slow)} ${Math.round(90 - 40 * slow)} ${Math.round(120 - 60 * slow)})`;
    c.globalAlpha = 0.25 + (0.6 * b[4]!) / most;
    c.lineWidth = 1 + 4 * Math.sqrt(b[4]! / most);
    c.beginPath();
    c.moveTo(e[0], e[1]);
    c.lineTo(e[2], e[3]);
    c.stroke();
  }
  c.globalAlpha = 1;
  c.lineWidth = 1;
}

// The line under the pointer, if one is near.
export function messageAt(at: Place, m: Messages, px: number, py: number): number[] | null {
  let best: number[] | null = null;
  let least = 4;
  for (const one of m.messages ?? m.bundles ?? []) {
    const e = m.messages ? ends(at, one) : blockEnds(at, one, m.row_block ?? 1);
    if (!e) continue;
    const dx = e[2] - e[0];
    const dy = e[3] - e[1];
    const t = Math.max(0, Math.min(1, ((px - e[0]) * dx + (py - e[1]) * dy) / Math.max(1e-9, dx * dx + dy * dy)));
    const distance = Math.hypot(px - (e[0] + t * dx), py - (e[1] + t * dy));
    if (distance < least) {
      least = distance;
      best = one;
    }
  }
  return best;
}

export function messageText(m: Messages, one: number[]): string {
  if (m.messages) {
    const [, , sent, received, bytes, tag, comm, from, to] = one as number[];
    return `message ${from} → ${to}, ${readable(bytes!, 'bytes')}, ${readable((received! - sent!) / 1e9, 's')} on the way, tag ${tag}, ${m.communicators[comm!] || `communicator ${comm}`}`;
  }
  return `${one[4]!.toLocaleString('en')} messages together, ${readable(one[5]!, 'bytes')}, ${readable(one[6]! / 1e9, 's')} on the way on average`;
}

export function drawCollectives(c: CanvasRenderingContext2D, at: Place, all: Collectives): void {
  for (const [, first, last, lastEnter, , , low, high, waiting] of all.collectives) {
    if (last < at.from || first > at.to) continue;
    const a = at.rowOf(low);
    const b = at.rowOf(high);
    if (a < 0 || b < 0) continue;
    const y0 = at.y(Math.min(a, b));
    const y1 = at.y(Math.max(a, b) + 1);
    const x0 = at.x(first);
    const x1 = Math.max(x0 + 1, at.x(last));
    // Until the last one came the others waited.
    c.fillStyle = `rgb(119 47 62 / ${Math.round(8 + 40 * waiting)}%)`;
    c.fillRect(x0, y0, Math.max(1, at.x(lastEnter) - x0), y1 - y0);
    c.strokeStyle = 'rgb(119 47 62 / 80%)';
    if (x1 - x0 > 3) c.strokeRect(x0 + 0.5, y0 + 0.5, x1 - x0 - 1, y1 - y0 - 2);
  }
}

export function drawWaits(c: CanvasRenderingContext2D, at: Place, waits: Waits): void {
  c.fillStyle = '#772F3E';
  const height = Math.max(2, Math.min(5, at.rowHeight / 3));
  for (const [row, begin, end] of waits.waits) {
    const position = at.rowOf(row);
    if (position < 0 || end < at.from || begin > at.to) continue;
    c.fillRect(at.x(begin), at.y(position + 1) - height - 1, Math.max(1, (end - begin) / at.perPixel), height);
  }
}

export function drawMarks(c: CanvasRenderingContext2D, at: Place, marks: Mark[]): void {
  c.font = `11px ${themeColour('font')}`;
  c.textBaseline = 'top';
  marks.forEach((mark, i) => {
    if (mark.to < at.from || mark.from > at.to) return;
    const x = Math.round(at.x(mark.from));
    c.fillStyle = 'rgb(196 84 28 / 14%)';
    if (mark.to > mark.from) c.fillRect(x, at.top, (mark.to - mark.from) / at.perPixel, at.height);
    c.fillStyle = '#C4541C';
    c.fillRect(x, at.top, 1, at.height);
    const text = mark.note || String(i + 1);
    const width = c.measureText(text).width + 8;
    c.fillRect(x, at.top + 2, width, 15);
    c.fillStyle = '#FFFFFF';
    c.fillText(text, x + 4, at.top + 4);
  });
}
