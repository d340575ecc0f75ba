// A model over two parameters: both axes are logarithmic, from the least that was measured to the target. No DOM.
import { evaluate } from './model';
import type { Model, Models } from './types';

export interface ModelGrid {
  along: (axis: 0 | 1, share: number) => number; // the parameter's value at a share of its axis
  shareOf: (axis: 0 | 1, value: number) => number;
  value: (x: number, y: number) => number; // of shares
  cells: number[][]; // [y][x], at the corners
  low: number; // least and most of what is positive
  high: number;
  height: (value: number) => number; // 0 to 1, logarithmic where values differ by orders of magnitude
  level: (share: number) => number; // the value of that height
}

export function modelGrid(model: Model, all: Models, axes: [number, number], at: number[], size: number): ModelGrid {
  const ranges = axes.map((axis) => {
    const measured = all.models.flatMap((m) => m.points.map((p) => p[axis] ?? 1)).filter((v) => v > 0);
    const low = measured.reduce((least, v) => Math.min(least, v), Infinity);
    const high = measured.reduce((most, v) => Math.max(most, v), low * 2);
    return [low, Math.max(at[axis] ?? 1, high)] as const;
  });
  const along = (axis: 0 | 1, share: number) => ranges[axis]![0] * (ranges[axis]![1] / ranges[axis]![0]) ** share;
  const shareOf = (axis: 0 | 1, value: number) =>
    Math.log(value / ranges[axis]![0]) / Math.log(ranges[axis]![1] / ranges[axis]![0]);
  const value = (x: number, y: number) => {
    const point = [...at];
    point[axes[0]] = along(0, x);
    point[axes[1]] = along(1, y);
    return evaluate(model, all.parameters, point);
  };
  const steps = Array.from({ length: size + 1 }, (_, i) => i / size);
  const cells = steps.map((y) => steps.map((x) => value(x, y)));
  const positive = cells.flat().filter((v) => v > 0);
  const low = positive.reduce((least, v) => Math.min(least, v), Infinity);
  const high = positive.reduce((most, v) => Math.max(most, v), -Infinity);
  const logarithmic = high / low > 100;
  const height = (v: number) =>
    high <= low
      ? 0.5
      : logarithmic
        ? Math.log(Math.max(v, low) / low) / Math.log(high / low)
        : (Math.max(v, low) - low) / (high - low);
  const level = (share: number) => (logarithmic ? low * (high / low) ** share : low + (high - low) * share);
  return { along, shareOf, value, cells, low, high, height, level };
}
