// What stands around the rows of a timeline: their names, the axis, the part that is selected.
import { readable, timeText } from '../data/format';
import { axisStep, type Row } from '../data/timeline';
import { themeColour } from '../widgets/useCanvas';
import type { Place } from './overlays';

export const kNames = 188; // width of the names of rows
export const kAxis = 24; // height of the axis

export interface Area {
  from: number;
  to: number;
  first: number; // positions of rows; first > last: all
  last: number;
}

export function drawNames(
  c: CanvasRenderingContext2D,
  at: Place,
  rows: Row[],
  firstRow: number,
  lastRow: number,
  picked: number,
): void {
  const { rowHeight } = at;
  c.save();
  c.beginPath();
  c.rect(0, at.top, kNames - 4, at.height);
  c.clip();
  c.font = `12px ${themeColour('font')}`;
  c.textBaseline = 'middle';
  const every = Math.max(1, Math.ceil(13 / rowHeight));
  for (let r = firstRow; r < lastRow; ++r) {
    const row = rows[r]!;
    if (r % every && row.group < 0) continue;
    c.fillStyle = themeColour(r === picked ? 'accent' : row.group >= 0 ? 'quiet' : 'text');
    const x = 8 + row.indent * 12;
    // Of rows that are lower than their names the first one in sight still shows all of it.
    const y = r === firstRow ? Math.max(at.y(r) + rowHeight / 2, at.top + 7) : at.y(r) + rowHeight / 2;
    if (row.group >= 0) c.fillText(row.open ? '▾' : '▸', x, y);
    c.fillText(cutMiddle(c, row.label, kNames - x - (row.group >= 0 ? 20 : 8)), x + (row.group >= 0 ? 12 : 0), y);
  }
  c.restore();
}

export function drawAxis(c: CanvasRenderingContext2D, at: Place, w: number, h: number, area: Area | null): void {
  const { from, to } = at;
  c.fillStyle = themeColour('raised');
  c.fillRect(0, 0, w, kAxis);
  c.strokeStyle = themeColour('line');
  c.beginPath();
  c.moveTo(0, kAxis - 0.5);
  c.lineTo(w, kAxis - 0.5);
  c.moveTo(kNames - 0.5, 0);
  c.lineTo(kNames - 0.5, h);
  c.stroke();
  c.fillStyle = themeColour('quiet');
  c.font = `11px ${themeColour('mono')}`;
  c.textBaseline = 'middle';
  const step = axisStep(to - from, at.width);
  for (let t = Math.ceil(from / step) * step; t < to; t += step) {
    c.fillRect(Math.round(at.x(t)), kAxis - 6, 1, 6);
    const text = timeText(t, to - from);
    if (at.x(t) + 6 + c.measureText(text).width < w) c.fillText(text, at.x(t) + 4, kAxis / 2 - 1);
  }
  if (!area) return;
  // The ruler of the selection.
  const middle = (at.x(Math.max(area.from, from)) + at.x(Math.min(area.to, to))) / 2;
  const text = readable((area.to - area.from) / 1e9, 's');
  const size = c.measureText(text).width;
  c.fillStyle = themeColour('accent');
  c.fillRect(at.x(area.from), kAxis - 3, (area.to - area.from) / at.perPixel, 2);
  c.fillStyle = themeColour('raised');
  c.fillRect(middle - size / 2 - 4, 2, size + 8, kAxis - 8);
  c.fillStyle = themeColour('accent');
  c.fillText(text, middle - size / 2, kAxis / 2 - 1);
}

// The moment that is picked, with a rim, so that it is seen in front of any colour.
export function drawMoment(c: CanvasRenderingContext2D, x: number, top: number, height: number): void {
  c.fillStyle = themeColour('background');
  c.fillRect(Math.round(x) - 1, top, 3, height);
  c.fillStyle = themeColour('accent');
  c.fillRect(Math.round(x), top, 1, height);
}

export function drawArea(c: CanvasRenderingContext2D, at: Place, h: number, area: Area): void {
  const all = area.first > area.last;
  const y0 = all ? at.top : at.y(area.first);
  const y1 = all ? h : at.y(area.last + 1);
  const width = (area.to - area.from) / at.perPixel;
  c.fillStyle = 'rgb(11 98 196 / 14%)';
  c.fillRect(at.x(area.from), y0, width, y1 - y0);
  c.strokeStyle = themeColour('accent');
  c.strokeRect(at.x(area.from) + 0.5, y0 + 0.5, Math.max(1, width - 1), y1 - y0 - 1);
}

// Names of rows differ at their ends: what is left out is the middle.
function cutMiddle(c: CanvasRenderingContext2D, text: string, width: number): string {
  if (c.measureText(text).width <= width) return text;
  for (let kept = text.length - 1; kept > 1; --kept) {
    const head = Math.ceil(kept / 2);
    const short = `${text.slice(0, head).trimEnd()}…${text.slice(text.length - (kept - head)).trimStart()}`;
    if (c.measureText(short).width <= width) return short;
  }
  return '';
}

export function cut(c: CanvasRenderingContext2D, text: string, width: number): string {
  if (c.measureText(text).width <= width) return text;
  let length = Math.max(0, Math.floor((text.length * width) / Math.max(1, c.measureText(text).width)));
  while (length > 0 && c.measureText(`${text.slice(0, length)}…`).width > width) --length;
  return length > 1 ? `${text.slice(0, length)}…` : '';
}
