// Models as curves over one parameter, with what was measured.
import { useMemo } from 'preact/hooks';
import { curvesOf, type PointKind } from '../data/curves';
import { readable, toNumber } from '../data/format';
import { evaluate, expectedGrowth } from '../data/model';
import type { Model, Models } from '../data/types';
import { useAsk } from '../state/ask';
import { PictureButtons } from './SaveButtons';
import { themeColour, useCanvas } from './useCanvas';

const kSteps = 120;
const kInset = 8; // points at the ends are seen whole
export const kSeries = ['#3966CE', '#F97300', '#2DA192', '#A51E8A', '#7B6626', '#772F3E'];

function logTicks(low: number, high: number): number[] {
  const out: number[] = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e) {
    for (const m of [1, 2, 5]) {
      const v = m * 10 ** e;
      if (v >= low * 0.999 && v <= high * 1.001) out.push(v);
    }
  }
  return out.length > 12 ? out.filter((v) => Math.abs(Math.log10(v) % 1) < 1e-9) : out;
}
function linearTicks(low: number, high: number): number[] {
  const raw = (high - low) / 6 || 1;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * size).find((x) => x >= raw) ?? raw;
  const out: number[] = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-6; v += step) out.push(v);
  return out;
}

export function ModelPlot({
  models,
  all,
  dataset,
  parameter,
  at,
  log,
  sum,
  points,
  beside,
  advised,
  name,
}: {
  models: Model[];
  all: Models;
  dataset: number;
  parameter: number;
  at: number[];
  log: boolean;
  sum: boolean; // one curve for all of them
  points: PointKind;
  beside: (Model | undefined)[]; // of another set, by place in `models`
  advised: number[][]; // points that are worth measuring
  name: string[];
}) {
  // Every repetition: asked for where it is drawn.
  const wanted = points === 'all' && models.length > 0;
  const asked = useAsk<{ values: number[][][] }>(wanted ? `${dataset}/repetitions` : null, {
    series: models.map((m) => m.series).join(),
  });
  const repetitions = wanted && !asked.stale ? (asked.data?.values ?? null) : null;
  const xs = useMemo(() => {
    const measured = models.flatMap((m) => m.points.map((p) => p[parameter] ?? NaN));
    const low = Math.min(...measured);
    const high = Math.max(...measured, at[parameter] ?? 0, ...advised.map((p) => p[parameter] ?? 0));
    return Array.from({ length: kSteps }, (_, i) =>
      log ? low * (high / low) ** (i / (kSteps - 1)) : low + ((high - low) * i) / (kSteps - 1),
    );
  }, [models, parameter, at.join(), advised, log]);
  const curves = useMemo(
    () => curvesOf(models, all, { parameter, at, xs, sum, points, repetitions }),
    [models, all, parameter, at.join(), xs, sum, points, repetitions],
  );
  const { canvas, attach } = useCanvas(
    ({ context: c, width, height }) => {
      const left = 70;
      const right = width - 16;
      const bottom = height - 32;
      const top = 34; // below the buttons
      const xMin = xs[0]!;
      const xMax = xs[xs.length - 1]!;
      const pointAt = (x: number) => at.map((v, k) => (k === parameter ? x : v));
      const lineOf = (m: Model) => xs.map((x) => evaluate(m, all.parameters, pointAt(x)));
      const others = sum ? [] : beside.map((m) => (m ? lineOf(m) : []));
      // What growth was said to be acceptable, through what was measured first.
      const expected = sum
        ? []
        : models.map((m) => {
            const from = m.points.findIndex((p) => expectedGrowth(all, p) > 0);
            const start = toNumber(m.mean[from] ?? null) / expectedGrowth(all, m.points[from] ?? []);
            return all.expected?.length && from >= 0 ? xs.map((x) => start * expectedGrowth(all, pointAt(x))) : [];
          });
      const ys = [
        ...curves.flatMap((curve) => curve.line),
        ...others.flat(),
        ...expected.flat(),
        ...curves.flatMap((curve) =>
          curve.measured.flatMap((p) => (points === 'all' ? [p.value, p.low, p.high] : [p.value])),
        ),
      ].filter((v) => Number.isFinite(v) && (!log || v > 0));
      if (!ys.length) return;
      let yMin = log ? Math.min(...ys) : Math.min(0, ...ys);
      let yMax = Math.max(...ys);
      if (yMin === yMax) {
        yMin = log ? yMin / 2 : 0;
        yMax = yMax * 2 || 1;
      }
      const scale = (v: number, a: number, b: number) => (log ? Math.log(v / a) / Math.log(b / a) : (v - a) / (b - a));
      const px = (x: number) => left + kInset + scale(x, xMin, xMax) * (right - left - 2 * kInset);
      const py = (y: number) => bottom - scale(y, yMin, yMax) * (bottom - top);
      const unit = models[0]?.unit || (/time/i.test(models[0]?.metric ?? '') ? 's' : '');
      c.font = `11px ${themeColour('font')}`;
      c.strokeStyle = themeColour('line');
      c.fillStyle = themeColour('quiet');
      c.textAlign = 'center';
      for (const x of log ? logTicks(xMin, xMax) : linearTicks(xMin, xMax)) {
        c.beginPath();
        c.moveTo(px(x), top);
        c.lineTo(px(x), bottom);
        c.stroke();
        c.fillText(Number(x.toPrecision(3)).toLocaleString('en'), px(x), bottom + 14);
      }
      c.textAlign = 'right';
      c.textBaseline = 'middle';
      for (const y of log ? logTicks(yMin, yMax) : linearTicks(yMin, yMax)) {
        c.beginPath();
        c.moveTo(left, py(y));
        c.lineTo(right, py(y));
        c.stroke();
        c.fillText(readable(y, unit), left - 6, py(y));
      }
      c.textAlign = 'center';
      c.textBaseline = 'alphabetic';
      c.fillText(all.parameters[parameter] ?? '', (left + right) / 2, height - 4);
      c.save();
      c.beginPath();
      c.rect(left, top - 6, right - left + 6, bottom - top + 12);
      c.clip();
      const dashed = (line: number[], dash: number[]) => {
        c.setLineDash(dash);
        c.lineWidth = 1.5;
        c.beginPath();
        line.forEach((y, i) => (i ? c.lineTo(px(xs[i]!), py(y)) : c.moveTo(px(xs[i]!), py(y))));
        c.stroke();
        c.setLineDash([]);
      };
      // What to measure next, on the axis.
      c.fillStyle = themeColour('accent');
      for (const x of new Set(advised.map((p) => p[parameter] ?? NaN))) {
        c.beginPath();
        c.moveTo(px(x), bottom - 9);
        c.lineTo(px(x) - 5, bottom);
        c.lineTo(px(x) + 5, bottom);
        c.closePath();
        c.fill();
      }
      curves.forEach(({ line, measured }, k) => {
        const colour = kSeries[k % kSeries.length]!;
        c.strokeStyle = colour;
        c.lineWidth = 2;
        c.beginPath();
        line.forEach((y, i) => (i ? c.lineTo(px(xs[i]!), py(y)) : c.moveTo(px(xs[i]!), py(y))));
        c.stroke();
        dashed(others[k] ?? [], [6, 4]);
        dashed(expected[k] ?? [], [2, 4]);
        c.fillStyle = colour;
        c.lineWidth = 1;
        for (const p of measured) {
          for (const value of p.single) {
            c.beginPath();
            c.arc(px(p.x), py(value), 2.5, 0, 7);
            c.stroke();
          }
          if (p.single.length) continue;
          if (points === 'all') {
            c.beginPath();
            c.moveTo(px(p.x), py(p.low));
            c.lineTo(px(p.x), py(p.high));
            c.stroke();
          }
          c.beginPath();
          c.arc(px(p.x), py(p.value), 3, 0, 7);
          c.fill();
        }
        const model = models[k];
        const target = all.target[parameter] ?? NaN;
        if (!model || sum || at.some((v, i) => v !== all.target[i])) return;
        const low = toNumber(model.low);
        const high = toNumber(model.high);
        if (Number.isFinite(low) && Number.isFinite(high)) {
          c.globalAlpha = 0.5;
          c.fillRect(px(target) - 3, py(high), 6, Math.max(2, py(low) - py(high)));
          c.globalAlpha = 1;
        }
      });
      c.restore();
    },
    [curves, models, beside, advised, all, log, document.documentElement.dataset['theme']],
  );
  return (
    <>
      <canvas
        ref={attach}
        class="canvas"
        role="img"
        aria-label={`models over ${all.parameters[parameter]}`}
        data-curves={JSON.stringify(
          curves.map((curve) => [
            curve.target,
            curve.measured.map((p) => (p.single.length ? [p.x, ...p.single] : [p.x, p.value])),
          ]),
        )}
        data-beside={beside.filter(Boolean).length}
        data-advised={advised.length}
      />
      <span class="corner">
        <PictureButtons canvas={canvas} name={name} />
      </span>
    </>
  );
}
