// Rows coloured by a value: how long calls are, bytes, waiting, a counter. The server adds up what falls into each of
// the bins that the shown window is cut into.
import type { ColourBy } from '../data/colours';
import { readable } from '../data/format';
import { tileRows, type Row } from '../data/timeline';
import { useAsk } from '../state/ask';
import { heatColour, heatRgb } from '../theme/heat';
import { themeColour } from '../widgets/useCanvas';
import type { Place } from './overlays';

export interface HeatChoice {
  dataset: number;
  channel: number;
  what: ColourBy;
  metric: number;
  version: number | undefined;
}

export interface Heat {
  unit: string;
  why?: string; // there is nothing to colour by
  rows: (number | null)[][]; // as asked for, a value per bin; null: nothing there
  first: number; // position of the first of them
  from: number;
  to: number;
  least: number;
  most: number;
}

const kBins = 512;
const kRows = 64; // asked for together, so that scrolling asks seldom

export function useHeat(
  choice: HeatChoice | null,
  rows: Row[],
  firstRow: number,
  lastRow: number,
  from: number,
  to: number,
): Heat | null {
  const first = Math.floor(firstRow / kRows) * kRows;
  const list = rows.slice(first, Math.ceil(lastRow / kRows) * kRows);
  const [t0, t1] = [Math.max(0, Math.floor(from)), Math.ceil(to)];
  const asked = useAsk<Omit<Heat, 'first' | 'from' | 'to'> & { from_ns: number; to_ns: number }>(
    choice && list.some((row) => row.members.length) && lastRow > firstRow ? `${choice.dataset}/heat` : null,
    {
      what: choice?.what,
      channel: choice?.channel,
      metric: choice && choice.metric >= 0 ? choice.metric : undefined,
      rows: tileRows(list),
      t0,
      t1,
      bins: kBins,
      v: choice?.version,
    },
  );
  if (!choice || !asked.data) return null;
  return { ...asked.data, first, from: asked.data.from_ns, to: asked.data.to_ns };
}

const kOrders = 1000; // below this part of the largest everything looks the same

// Over orders of magnitude a linear scale shows the largest alone.
function shareOf(heat: Heat, value: number): number {
  const low = Math.max(heat.least, heat.most / kOrders);
  if (heat.unit !== 'share' && low > 0 && heat.most / low > 20)
    return value <= low ? 0 : Math.log(value / low) / Math.log(heat.most / low);
  return heat.most > 0 ? value / heat.most : 0;
}

export function drawHeat(c: CanvasRenderingContext2D, at: Place, heat: Heat): void {
  if (!heat.rows.length) return;
  const picture = document.createElement('canvas');
  picture.width = kBins;
  picture.height = heat.rows.length;
  const context = picture.getContext('2d')!;
  const image = context.createImageData(kBins, heat.rows.length);
  const out = new Uint32Array(image.data.buffer);
  heat.rows.forEach((row, r) =>
    row.forEach((value, i) => {
      if (value === null) return;
      const [red, green, blue] = heatRgb(shareOf(heat, value));
      out[r * kBins + i] = (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
    }),
  );
  context.putImageData(image, 0, 0);
  c.drawImage(
    picture,
    0,
    0,
    kBins,
    heat.rows.length,
    at.x(heat.from),
    at.y(heat.first),
    (heat.to - heat.from) / at.perPixel,
    heat.rows.length * at.rowHeight,
  );
}

function shown(heat: Heat, value: number): string {
  return heat.unit === 'share' ? `${(100 * value).toFixed(1)}%` : readable(value, heat.unit);
}

export function heatText(heat: Heat, position: number, ns: number): string {
  const bin = Math.floor(((ns - heat.from) / (heat.to - heat.from)) * kBins);
  const value = heat.rows[position - heat.first]?.[bin];
  return value === null || value === undefined ? 'nothing' : shown(heat, value);
}

// In the corner over the names of rows: from the least to the most.
export function drawLegend(c: CanvasRenderingContext2D, heat: Heat, width: number, height: number): void {
  const steps = 40;
  c.font = `10px ${themeColour('mono')}`;
  c.textBaseline = 'middle';
  const texts = [shown(heat, heat.least), shown(heat, heat.most)];
  const sizes = texts.map((t) => c.measureText(t).width);
  const left = 8 + sizes[0]! + 4;
  const room = width - 12 - sizes[1]! - left;
  for (let i = 0; i < steps; ++i) {
    c.fillStyle = heatColour((i + 0.5) / steps);
    c.fillRect(left + (room * i) / steps, height / 2 - 4, room / steps + 0.5, 7);
  }
  c.fillStyle = themeColour('quiet');
  c.fillText(texts[0]!, 8, height / 2);
  c.fillText(texts[1]!, left + room + 4, height / 2);
}

// For tests: what is coloured, and the numbers behind it.
export function heatSummary(choice: HeatChoice, heat: Heat): string {
  const sums = heat.rows.map((row) => row.reduce((sum: number, value) => sum + (value ?? 0), 0));
  const { least, most, from, to } = heat;
  return JSON.stringify({ what: choice.what, least, most, bin_ns: (to - from) / kBins, sums, first: heat.rows[0] });
}
