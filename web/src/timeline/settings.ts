// What is chosen on the timeline, read from the address.
import type { ColourBy } from '../data/colours';
import { marksOf, rangeOf, type Mark } from '../data/timeline';
import { parseRanges } from '../state/state';
import type { Area } from './frame';

export interface Settings {
  depth: number; // 255: innermost
  by: ColourBy;
  counter: number; // the metric that rows are coloured by
  focus: number; // only this region
  path: string[]; // only this call path, from the outermost in
  lines: boolean;
  waits: boolean;
  collectives: boolean;
  tab: string;
  drawer: boolean;
  details: boolean;
  order: string;
  filter: string;
  rules: string;
  closed: number[]; // groups shown as one row
  pinned: number[];
  marks: Mark[];
  area: Area | null;
}

export const kInnermost = 255;

export function settingsOf(rest: Record<string, string>): Settings {
  const range = rangeOf(rest['sel']);
  const [first, last] = (rest['sr'] ?? '1-0').split('-').map(Number);
  return {
    depth: Number(rest['depth'] ?? kInnermost),
    by: (rest['by'] ?? 'function') as ColourBy,
    counter: Number(rest['cm'] ?? -1),
    focus: Number(rest['fn'] ?? -1),
    path: (rest['fp'] ?? '').split('\n').filter(Boolean),
    lines: rest['L'] !== '0',
    waits: rest['ws'] === '1',
    collectives: rest['cl'] === '1',
    tab: rest['tab'] ?? 'selection',
    drawer: rest['Q'] !== '0',
    details: rest['I'] !== '0',
    order: rest['ord'] ?? 'system',
    filter: rest['q'] ?? '',
    rules: rest['rules'] ?? '',
    closed: parseRanges(rest['col'] ?? ''),
    pinned: parseRanges(rest['pin'] ?? ''),
    marks: marksOf(rest['marks']),
    area: range && { from: range[0], to: range[1], first: first ?? 1, last: last ?? 0 },
  };
}
