// Chosen models over one parameter: curves, and what was measured. No DOM.
import { toNumber } from './format';
import { evaluate } from './model';
import type { Model, Models } from './types';

export type PointKind = 'mean' | 'median' | 'minimum' | 'maximum' | 'all';
export interface Measured {
  x: number;
  key: string; // the whole point
  value: number;
  low: number;
  high: number;
  single: number[]; // every repetition, where they are wanted and known
}
export interface Curve {
  line: number[]; // by place in `xs`
  target: number; // value at the point of the sliders
  measured: Measured[];
}

interface Wanted {
  parameter: number;
  at: number[];
  xs: number[];
  sum: boolean; // one curve for all of them
  points: PointKind;
  repetitions: number[][][] | null; // by model and point
}

const sumOf = (list: number[]) => list.reduce((sum, v) => sum + v, 0);

function measuredOf(model: Model, place: number, w: Wanted): Measured[] {
  const kind = w.points === 'all' ? 'mean' : w.points;
  return model.points.map((p, i) => ({
    x: p[w.parameter] ?? NaN,
    key: p.join(),
    value: toNumber(model[kind][i] ?? null),
    low: toNumber(model.minimum[i] ?? null),
    high: toNumber(model.maximum[i] ?? null),
    single: w.points === 'all' ? (w.repetitions?.[place]?.[i] ?? []) : [],
  }));
}

// Points of a sum are those that every model has; a repetition of it is one run, so as many of each are needed.
function added(lists: Measured[][]): Measured[] {
  return (lists[0] ?? []).flatMap((p) => {
    const same = lists.map((list) => list.find((q) => q.key === p.key)).filter((q) => q !== undefined);
    if (same.length < lists.length) return [];
    const runs = same.every((q) => q.single.length === p.single.length);
    return {
      ...p,
      value: sumOf(same.map((q) => q.value)),
      low: sumOf(same.map((q) => q.low)),
      high: sumOf(same.map((q) => q.high)),
      single: runs ? p.single.map((_, i) => sumOf(same.map((q) => q.single[i]!))) : [],
    };
  });
}

export function curvesOf(models: Model[], all: Models, w: Wanted): Curve[] {
  const value = (model: Model, point: number[]) => evaluate(model, all.parameters, point);
  const pointAt = (x: number) => w.at.map((v, k) => (k === w.parameter ? x : v));
  const single = models.map((model, i) => ({
    line: w.xs.map((x) => value(model, pointAt(x))),
    target: value(model, w.at),
    measured: measuredOf(model, i, w),
  }));
  if (!w.sum || single.length < 2) return single;
  return [
    {
      line: w.xs.map((_, i) => sumOf(single.map((c) => c.line[i]!))),
      target: sumOf(single.map((c) => c.target)),
      measured: added(single.map((c) => c.measured)),
    },
  ];
}
