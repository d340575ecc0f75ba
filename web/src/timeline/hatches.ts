// What is not known is hatched: rows without any events, and time of which only the outer call is known.
import type { Tile } from '../data/tile';
import type { Row, TimelineData } from '../data/timeline';
import { stretches } from '../draw/tiles';
import { themeColour } from '../widgets/useCanvas';
import type { Place } from './overlays';

const kGap = 7; // between lines
const kLeast = 4; // pixels: what is narrower has no room for a line

// Lines of 45° inside of a box, cut at its sides.
export function hatch(c: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
  c.beginPath();
  // On one grid for all boxes, so that neighbours go on.
  const first = Math.floor((x + y) / kGap) * kGap;
  for (let sum = first; sum < x + width + y + height; sum += kGap) {
    const left = Math.max(x, sum - (y + height));
    const right = Math.min(x + width, sum - y);
    if (right <= left) continue;
    c.moveTo(left, sum - left);
    c.lineTo(right, sum - right);
  }
  c.stroke();
}

// A rank whose file is missing, or a location without events.
export function isMissing(data: TimelineData, row: Row): boolean {
  if (!row.members.length) return true;
  return data.state !== 'building' && row.group < 0 && (data.rows.begin_ns[row.members[0]!] ?? 0) < 0;
}

export function drawMissing(
  c: CanvasRenderingContext2D,
  at: Place,
  data: TimelineData,
  rows: Row[],
  firstRow: number,
  lastRow: number,
): void {
  c.lineWidth = 1;
  for (let r = firstRow; r < lastRow; ++r) {
    if (!isMissing(data, rows[r]!)) continue;
    c.strokeStyle = themeColour('line');
    hatch(c, at.left, at.y(r), at.width, at.rowHeight - 1);
    if (at.rowHeight < 14) continue;
    c.font = `11px ${themeColour('font')}`;
    c.textBaseline = 'middle';
    const text = 'no events of this location';
    c.fillStyle = themeColour('stripe');
    c.fillRect(at.left + 8, at.y(r) + 2, c.measureText(text).width + 8, at.rowHeight - 5);
    c.fillStyle = themeColour('quiet');
    c.fillText(text, at.left + 12, at.y(r) + at.rowHeight / 2);
  }
}

// "Somewhere below": the colour is that of the outer call, what it called is not told apart at this zoom.
export function drawBelow(
  c: CanvasRenderingContext2D,
  at: Place,
  drawn: { tile: Tile; first: number; from: number }[],
  firstRow: number,
  lastRow: number,
): void {
  c.strokeStyle = themeColour('background');
  c.globalAlpha = 0.6;
  c.lineWidth = 1;
  for (const { tile, first, from } of drawn) {
    const bin = 2 ** tile.k;
    for (let r = Math.max(0, firstRow - first); r < tile.rows && first + r < lastRow; ++r) {
      for (const box of stretches(tile, r)) {
        if (!box.below) continue;
        const x0 = Math.max(at.left, at.x(from + box.from * bin));
        const x1 = Math.min(at.left + at.width, at.x(from + box.to * bin));
        if (x1 - x0 >= kLeast) hatch(c, x0, at.y(first + r), x1 - x0, at.rowHeight - 1);
      }
    }
  }
  c.globalAlpha = 1;
}
