// Models in the order of what they cost at a point. No DOM.
import { toNumber } from '../data/format';
import { evaluate } from '../data/model';
import { matcher } from '../data/tree';
import type { Model, Models } from '../data/types';

export interface Ranked {
  model: Model;
  value: number; // at the point
  share: number; // of all
  other?: Model; // of the set beside it
  otherValue?: number;
}

type Key = (r: Ranked) => number | string;
const kKeys: Record<string, Key> = {
  'call path': (r) => r.model.callpath,
  growth: (r) => r.model.growth,
  now: (r) => toNumber(r.model.now),
  SMAPE: (r) => toNumber(r.model.SMAPE),
  'R²': (r) => toNumber(r.model.AR2),
  'beside it': (r) => r.otherValue ?? -Infinity,
  difference: (r) => (r.otherValue === undefined ? -Infinity : r.value - r.otherValue),
};

// `sort`: the title of a column and + or -.
export function rank(
  all: Models,
  metric: string,
  at: number[],
  query: string,
  sort: string,
  beside: Models | null,
): Ranked[] {
  const others = new Map(beside?.models.filter((m) => m.metric === metric).map((m) => [m.callpath, m]));
  const list = all.models
    .filter((m) => m.metric === metric)
    .map((model): Ranked => {
      const other = others.get(model.callpath);
      return {
        model,
        value: evaluate(model, all.parameters, at),
        share: 0,
        ...(other && beside ? { other, otherValue: evaluate(other, beside.parameters, at) } : {}),
      };
    });
  const total = list.reduce((t, r) => t + Math.max(0, r.value), 0);
  const key = kKeys[sort.slice(0, -1)] ?? ((r: Ranked) => r.value);
  const match = matcher(query);
  return list
    .map((r) => ({ ...r, share: Math.max(0, r.value) / total }))
    .filter((r) => !match || match(r.model.callpath))
    .sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      return (sort.endsWith('-') ? -1 : 1) * (x < y ? -1 : x > y ? 1 : 0);
    });
}
