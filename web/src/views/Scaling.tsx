// Ranked models, and a plot of the chosen ones over one parameter or two.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { csvOf, download, fileName } from '../data/export';
import { percent, readable, toNumber } from '../data/format';
import { evaluate } from '../data/model';
import { matcher } from '../data/tree';
import type { Model, Models } from '../data/types';
import { useAsk } from '../state/ask';
import { changeExtra, extra, state } from '../state/state';
import { Failed } from '../widgets/Failed';
import { ModelHeat } from '../widgets/ModelHeat';
import { kSeries, ModelPlot, type PointKind } from '../widgets/ModelPlot';
import { VirtualRows } from '../widgets/VirtualRows';

const kHeads: [string, number][] = [
  ['', 28],
  ['at target', 108],
  ['share', 76],
  ['now', 84],
  ['SMAPE', 72],
  ['R²', 64],
  ['growth', 140],
];

export function Scaling({ name }: { name: string }) {
  const s = state.value;
  const asked = useAsk<Models>(`${s.dataset}/models`);
  const metric = extra('sm');
  const log = extra('axes') !== 'linear';
  const points = (extra('pts') || 'all') as PointKind;
  const sum = extra('sum') === '1';
  const plot = extra('plot'); // curves, or heat
  const query = extra('q');
  const sort = extra('ss') || 'at target-';
  const [chosen, setChosen] = useState<string[]>([]);
  const all = asked.data;
  const given = extra('at').split(',').map(Number);
  const at = all && given.length === all.parameters.length && given.every((v) => v > 0) ? given : (all?.target ?? []);
  const setPoint = (to: number[] | null) => changeExtra({ at: to ? to.join(',') : '' }, false);
  const parameter = Math.max(0, all?.parameters.indexOf(extra('over')) ?? 0);
  const metrics = useMemo(() => [...new Set(all?.models.map((m) => m.metric) ?? [])], [all]);
  const shownMetric = metric || (metrics.includes('time') ? 'time' : (metrics[0] ?? ''));
  const ranked = useMemo(() => {
    if (!all) return [];
    const list = all.models
      .filter((m) => m.metric === shownMetric)
      .map((model) => ({ model, value: evaluate(model, all.parameters, at) }));
    const total = list.reduce((t, r) => t + Math.max(0, r.value), 0);
    const [column, falling] = [sort.slice(0, -1), sort.endsWith('-')];
    const key = (r: (typeof list)[number]): number | string =>
      column === 'call path'
        ? r.model.callpath
        : column === 'growth'
          ? r.model.growth
          : column === 'now'
            ? toNumber(r.model.now)
            : column === 'SMAPE'
              ? toNumber(r.model.SMAPE)
              : column === 'R²'
                ? toNumber(r.model.AR2)
                : r.value;
    const match = matcher(query);
    return list
      .map((r) => ({ ...r, share: Math.max(0, r.value) / total }))
      .filter((r) => !match || match(r.model.callpath))
      .sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        return (falling ? -1 : 1) * (x < y ? -1 : x > y ? 1 : 0);
      });
  }, [all, shownMetric, at.join(), query, sort]);
  // A link names the call path that it is about.
  useEffect(() => {
    const wish = extra('find');
    if (!all || !wish) return;
    setChosen([wish.slice(wish.indexOf(':') + 1)]);
    changeExtra({ find: '' }, false);
  }, [all, extra('find')]);
  if (asked.failure) return <Failed failure={asked.failure} again={asked.again} />;
  if (!all) return <div class="empty">Fitting models…</div>;
  const first = ranked[0]?.model.callpath;
  const paths = chosen.length ? chosen : first === undefined ? [] : [first];
  const picked = paths.map((p) => ranked.find((r) => r.model.callpath === p)?.model).filter((m): m is Model => !!m);
  const header = (title: string) => {
    const same = sort.slice(0, -1) === title;
    changeExtra(
      { ss: same ? `${title}${sort.endsWith('-') ? '+' : '-'}` : `${title}${title === 'call path' ? '+' : '-'}` },
      false,
    );
  };
  const arrow = (title: string) => (sort.slice(0, -1) === title ? (sort.endsWith('-') ? ' ↓' : ' ↑') : '');
  const save = () =>
    download(
      fileName([name, 'models', shownMetric], 'csv'),
      csvOf(
        ['callpath', 'metric', 'function', 'growth', 'SMAPE', 'AR2', 'now', 'at target', 'share at target'],
        ranked.map((r) => [
          r.model.callpath,
          r.model.metric,
          r.model.function,
          r.model.growth,
          r.model.SMAPE,
          r.model.AR2,
          r.model.now,
          r.value,
          r.share,
        ]),
      ),
      'text/csv',
    );
  return (
    <div class="split" style={{ gridTemplateColumns: 'minmax(0, 1fr) minmax(0, 1fr)' }}>
      <div class="pane">
        <div class="bar">
          <strong>{all.models.length} models</strong>
          <select
            aria-label="metric"
            value={shownMetric}
            onChange={(e) => {
              changeExtra({ sm: e.currentTarget.value });
              setChosen([]);
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
          <span class="spacer" />
          <input
            type="search"
            aria-label="search"
            placeholder="part of a name, or /regex/"
            style={{ width: '160px' }}
            value={query}
            onInput={(e) => changeExtra({ q: e.currentTarget.value }, false)}
          />
          <button onClick={save}>CSV</button>
        </div>
        <VirtualRows
          count={ranked.length}
          height={22}
          label="models"
          headHeight={24}
          head={
            <div class="head" role="row">
              {kHeads.map(([title, width], i) => (
                <div
                  key={title}
                  role="columnheader"
                  style={{ width: `${width}px`, textAlign: i === 6 ? 'left' : 'right' }}
                  onClick={() => title && header(title)}
                >
                  {title}
                  {arrow(title)}
                </div>
              ))}
              <div role="columnheader" style={{ flex: '1 1 auto' }} onClick={() => header('call path')}>
                call path{arrow('call path')}
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
                aria-selected={paths.includes(m.callpath)}
                title={`${m.callpath}\n${m.function}\n${m.explanation}`}
                onClick={(e) => {
                  setChosen(e.ctrlKey || e.metaKey ? [...new Set([...paths, m.callpath])].slice(-6) : [m.callpath]);
                }}
              >
                <div style={{ width: '28px', textAlign: 'center', color: 'var(--warn)', fontWeight: 600 }}>
                  {m.mark === 'bug' ? '!' : m.mark === 'unsure' ? '?' : ''}
                </div>
                <div class="value number" style={{ width: '108px' }} data-value={r.value}>
                  <div class="ink" style={{ width: `${100 * r.share}%` }} />
                  <span>{readable(r.value, unit)}</span>
                </div>
                <div class="number cell" style={{ width: '76px' }}>
                  {percent(r.share, 1)}
                </div>
                <div class="number cell" style={{ width: '84px' }}>
                  {readable(toNumber(m.now), unit)}
                </div>
                <div class="number cell" style={{ width: '72px' }}>
                  {Number(toNumber(m.SMAPE).toPrecision(3))}%
                </div>
                <div class="number cell" style={{ width: '64px' }}>
                  {Number.isFinite(toNumber(m.AR2)) ? toNumber(m.AR2).toFixed(3) : '–'}
                </div>
                <div class="cut number" style={{ width: '140px', textAlign: 'left', padding: '0 8px' }}>
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
          {all.parameters.length > 1 && (
            <span class="group">
              <button aria-pressed={plot !== 'heat'} onClick={() => changeExtra({ plot: '' }, false)}>
                Curves
              </button>
              <button aria-pressed={plot === 'heat'} onClick={() => changeExtra({ plot: 'heat' }, false)}>
                Heat map
              </button>
            </span>
          )}
          {all.parameters.length > 1 && (
            <select
              aria-label="over"
              value={all.parameters[parameter]}
              onChange={(e) => changeExtra({ over: e.currentTarget.value }, false)}
            >
              {all.parameters.map((p) => (
                <option key={p} value={p}>
                  over {p}
                </option>
              ))}
            </select>
          )}
          {plot !== 'heat' && (
            <>
              <button aria-pressed={log} onClick={() => changeExtra({ axes: log ? 'linear' : '' }, false)}>
                log axes
              </button>
              <select
                aria-label="points"
                value={points}
                onChange={(e) =>
                  changeExtra({ pts: e.currentTarget.value === 'all' ? '' : e.currentTarget.value }, false)
                }
              >
                <option value="all">mean, least to largest</option>
                <option value="mean">mean</option>
                <option value="median">median</option>
                <option value="minimum">minimum</option>
                <option value="maximum">maximum</option>
              </select>
              <button
                aria-pressed={sum}
                disabled={picked.length < 2}
                title="one curve for all chosen call paths"
                onClick={() => changeExtra({ sum: sum ? '' : '1' }, false)}
              >
                sum
              </button>
              <span class="quiet cut">Ctrl+click adds a curve</span>
            </>
          )}
        </div>
        <div class="stage" style={{ margin: '8px' }}>
          {plot === 'heat' && all.parameters.length > 1 && picked[0] ? (
            <ModelHeat
              model={picked[0]}
              all={all}
              axes={[parameter, parameter === 0 ? 1 : 0]}
              at={at}
              name={[name, 'heat', picked[0].callpath.slice(-40)]}
            />
          ) : (
            <ModelPlot
              models={picked}
              all={all}
              parameter={parameter}
              at={at}
              log={log}
              sum={sum && picked.length > 1}
              points={points}
              name={[name, 'models', all.parameters[parameter] ?? '']}
            />
          )}
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
