// Ranked models, and a plot of the chosen ones over one parameter.
import { useMemo, useState } from 'preact/hooks';
import { percent, readable, toNumber } from '../data/format';
import { evaluate } from '../data/model';
import type { Model, Models } from '../data/types';
import { useAsk } from '../state/ask';
import { change, state } from '../state/state';
import { themeColour, useCanvas } from '../widgets/useCanvas';
import { Failed } from '../widgets/Failed';
import { VirtualRows } from '../widgets/VirtualRows';

const kSeries = ['#3966CE', '#F97300', '#2DA192', '#A51E8A', '#7B6626', '#772F3E'];

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

function Plot({
  models,
  all,
  parameter,
  at,
  log,
}: {
  models: Model[];
  all: Models;
  parameter: number;
  at: number[];
  log: boolean;
}) {
  const { attach } = useCanvas(
    ({ context: c, width, height }) => {
      const left = 70;
      const right = width - 16;
      const bottom = height - 32;
      const top = 12;
      const xs = models.flatMap((m) => m.points.map((p) => p[parameter] ?? NaN));
      const xMin = Math.min(...xs);
      const xMax = Math.max(...xs, at[parameter] ?? 0);
      const curve = Array.from({ length: 120 }, (_, i) =>
        log ? xMin * (xMax / xMin) ** (i / 119) : xMin + ((xMax - xMin) * i) / 119,
      );
      const lines = models.map((m) =>
        curve.map((x) =>
          evaluate(
            m,
            all.parameters,
            at.map((v, k) => (k === parameter ? x : v)),
          ),
        ),
      );
      const onSlice = (m: Model) =>
        m.points
          .map((p, i) => ({
            x: p[parameter] ?? NaN,
            mean: toNumber(m.mean[i] ?? null),
            low: toNumber(m.minimum[i] ?? null),
            high: toNumber(m.maximum[i] ?? null),
            other: p,
          }))
          .filter(() => true);
      const ys = [...lines.flat(), ...models.flatMap((m) => onSlice(m).map((p) => p.mean))].filter(
        (v) => Number.isFinite(v) && (!log || v > 0),
      );
      if (!ys.length) return;
      let yMin = log ? Math.min(...ys) : Math.min(0, ...ys);
      let yMax = Math.max(...ys);
      if (yMin === yMax) {
        yMin = log ? yMin / 2 : 0;
        yMax = yMax * 2 || 1;
      }
      const scale = (v: number, a: number, b: number) => (log ? Math.log(v / a) / Math.log(b / a) : (v - a) / (b - a));
      const px = (x: number) => left + scale(x, xMin, xMax) * (right - left);
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
      models.forEach((m, k) => {
        const colour = kSeries[k % kSeries.length]!;
        c.strokeStyle = colour;
        c.lineWidth = 2;
        c.beginPath();
        lines[k]!.forEach((y, i) => (i ? c.lineTo(px(curve[i]!), py(y)) : c.moveTo(px(curve[i]!), py(y))));
        c.stroke();
        c.fillStyle = colour;
        for (const p of onSlice(m)) {
          c.lineWidth = 1;
          c.beginPath();
          c.moveTo(px(p.x), py(p.low));
          c.lineTo(px(p.x), py(p.high));
          c.stroke();
          c.beginPath();
          c.arc(px(p.x), py(p.mean), 3, 0, 7);
          c.fill();
        }
        const low = toNumber(m.low);
        const high = toNumber(m.high);
        const target = all.target[parameter] ?? NaN;
        if (Number.isFinite(low) && Number.isFinite(high) && (at[parameter] ?? 0) === target) {
          c.globalAlpha = 0.5;
          c.fillRect(px(target) - 3, py(high), 6, Math.max(2, py(low) - py(high)));
          c.globalAlpha = 1;
        }
      });
      c.restore();
    },
    [models, parameter, at.join(), log, document.documentElement.dataset['theme']],
  );
  return <canvas ref={attach} class="canvas" role="img" aria-label={`models over ${all.parameters[parameter]}`} />;
}

export function Scaling() {
  const s = state.value;
  const asked = useAsk<Models>(`${s.dataset}/models`);
  const [metric, setMetric] = useState('');
  const [chosen, setChosen] = useState<number[]>([0]);
  const [log, setLog] = useState(true);
  const [parameter, setParameter] = useState(0);
  const [point, setPoint] = useState<number[] | null>(null);
  const all = asked.data;
  const at = point ?? all?.target ?? [];
  const metrics = useMemo(() => [...new Set(all?.models.map((m) => m.metric) ?? [])], [all]);
  const shownMetric = metric || (metrics.includes('time') ? 'time' : (metrics[0] ?? ''));
  const ranked = useMemo(() => {
    if (!all) return [];
    const list = all.models
      .filter((m) => m.metric === shownMetric)
      .map((model) => ({ model, value: evaluate(model, all.parameters, at) }));
    const sum = list.reduce((total, r) => total + Math.max(0, r.value), 0);
    return list.map((r) => ({ ...r, share: Math.max(0, r.value) / sum })).sort((a, b) => b.value - a.value);
  }, [all, shownMetric, at.join()]);
  if (asked.failure) return <Failed failure={asked.failure} again={asked.again} />;
  if (!all) return <div class="empty">Fitting models…</div>;
  const picked = chosen.map((i) => ranked[i]?.model).filter((m): m is Model => !!m);
  const widths = [28, 108, 84, 84, 72, 150];
  const heads = ['', 'at target', 'share', 'now', 'SMAPE', 'growth'];
  return (
    <div class="split" style={{ gridTemplateColumns: 'minmax(0, 1fr) minmax(0, 1fr)' }}>
      <div class="pane">
        <div class="bar">
          <strong>{all.models.length} models</strong>
          <select
            aria-label="metric"
            value={shownMetric}
            onChange={(e) => {
              setMetric(e.currentTarget.value);
              setChosen([0]);
            }}
          >
            {metrics.map((m) => (
              <option key={m}>{m}</option>
            ))}
          </select>
          <span class="quiet">
            ranked at{' '}
            {all.parameters
              .map((p, i) => `${p} = ${Number((at[i] ?? 0).toPrecision(4)).toLocaleString('en')}`)
              .join(', ')}
          </span>
        </div>
        <VirtualRows
          count={ranked.length}
          height={22}
          label="models"
          headHeight={24}
          head={
            <div class="head" role="row">
              {heads.map((h, i) => (
                <div role="columnheader" style={{ width: `${widths[i]}px`, textAlign: i === 5 ? 'left' : 'right' }}>
                  {h}
                </div>
              ))}
              <div role="columnheader" style={{ flex: '1 1 auto' }}>
                call path
              </div>
            </div>
          }
          row={(i, style) => {
            const r = ranked[i]!;
            const m = r.model;
            const unit = m.unit || (/time/i.test(m.metric) ? 's' : '');
            return (
              <div
                key={i}
                class="row"
                role="row"
                style={style}
                aria-selected={chosen.includes(i)}
                title={`${m.callpath}\n${m.function}\n${m.explanation}`}
                onClick={(e) => {
                  setChosen(e.ctrlKey || e.metaKey ? [...new Set([...chosen, i])].slice(-6) : [i]);
                  change({ node: -1 }, false);
                }}
              >
                <div style={{ width: '28px', textAlign: 'center', color: 'var(--warn)', fontWeight: 600 }}>
                  {m.mark === 'bug' ? '!' : m.mark === 'unsure' ? '?' : ''}
                </div>
                <div class="value number" style={{ width: '108px' }} data-value={r.value}>
                  <div class="ink" style={{ width: `${100 * r.share}%` }} />
                  <span>{readable(r.value, unit)}</span>
                </div>
                <div class="number" style={{ width: '84px' }}>
                  {percent(r.share, 1)}
                </div>
                <div class="number" style={{ width: '84px' }}>
                  {readable(toNumber(m.now), unit)}
                </div>
                <div class="number" style={{ width: '72px', paddingRight: '8px' }}>
                  {Number(toNumber(m.SMAPE).toPrecision(3))}%
                </div>
                <div class="cut number" style={{ width: '150px', textAlign: 'left', padding: '0 8px' }}>
                  {m.growth}
                </div>
                <div class="name cut">{m.callpath.replaceAll('->', ' › ')}</div>
              </div>
            );
          }}
        />
        <div class="sliders">
          {all.parameters.map((p, i) => {
            const low = Math.log2(
              Math.max(1e-9, Math.min(...all.models.flatMap((m) => m.points.map((x) => x[i] ?? 1)))),
            );
            const high = Math.log2((all.target[i] ?? 1) * 16);
            return (
              <label key={p}>
                {p}
                <input
                  type="range"
                  min={low}
                  max={high}
                  step="any"
                  style={{ width: '180px' }}
                  value={Math.log2(at[i] ?? 1)}
                  onInput={(e) =>
                    setPoint(
                      at.map((v, k) => (k === i ? Number((2 ** Number(e.currentTarget.value)).toPrecision(3)) : v)),
                    )
                  }
                />
                <input
                  type="number"
                  aria-label={`${p} at the target`}
                  style={{ width: '96px' }}
                  value={at[i]}
                  onChange={(e) => setPoint(at.map((v, k) => (k === i ? Number(e.currentTarget.value) : v)))}
                />
              </label>
            );
          })}
          <button onClick={() => setPoint(null)}>Reset</button>
        </div>
      </div>
      <div class="pane">
        <div class="bar">
          <strong>Plot</strong>
          {all.parameters.length > 1 &&
            all.parameters.map((p, i) => (
              <button key={p} aria-pressed={parameter === i} onClick={() => setParameter(i)}>
                over {p}
              </button>
            ))}
          <button aria-pressed={log} onClick={() => setLog(!log)}>
            log axes
          </button>
          <span class="quiet">Ctrl+click adds a curve; bars: least to largest of the repetitions</span>
        </div>
        <div class="stage" style={{ margin: '8px' }}>
          <Plot models={picked} all={all} parameter={parameter} at={at} log={log} />
        </div>
        <div style={{ padding: '8px 12px', borderTop: '1px solid var(--line)', maxHeight: '40%', overflow: 'auto' }}>
          {picked.map((m, k) => (
            <p key={m.callpath} style={{ margin: '0 0 8px' }}>
              <span class="swatch" style={{ background: kSeries[k % kSeries.length] }} />
              <strong>{m.callpath.replaceAll('->', ' › ')}</strong>
              <br />
              <span class="number">{m.function}</span>
              {m.explanation && (
                <>
                  <br />
                  <span class="quiet">{m.explanation}</span>
                </>
              )}
            </p>
          ))}
        </div>
      </div>
    </div>
  );
}
