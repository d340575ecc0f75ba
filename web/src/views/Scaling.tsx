// Ranked models, another set of them beside it, and a plot of the chosen ones over one parameter or two.
import { useEffect, useMemo } from 'preact/hooks';
import { csvOf, download, fileName } from '../data/export';
import type { Query } from '../data/source';
import type { Models, Session } from '../data/types';
import { useAdvice } from '../scaling/AdvicePane';
import { ModelTable } from '../scaling/ModelTable';
import { PlotPane } from '../scaling/PlotPane';
import { rank } from '../scaling/ranking';
import { Sliders } from '../scaling/Sliders';
import { isLive, useAsk } from '../state/ask';
import { changeExtra, extra, state } from '../state/state';
import { Failed } from '../widgets/Failed';

// The other set: of another dataset, or of this one made in another way.
const kOtherWays: [string, string, Query][] = [
  ['measure:median', 'fitted to medians', { measure: 'median' }],
  ['measure:minimum', 'fitted to minima', { measure: 'minimum' }],
  ['modeler:robust', 'the robust modeler', { modeler: 'robust' }],
  ['modeler:refining', 'the refining modeler', { modeler: 'refining' }],
  ['modeler:segmented', 'pieces (one parameter)', { modeler: 'segmented' }],
];

function useBeside(dataset: number, session: Session | null) {
  const choice = extra('beside');
  const way = kOtherWays.find(([key]) => key === choice);
  const other = /^d\d+$/.test(choice) ? Number(choice.slice(1)) : dataset;
  const asked = useAsk<Models>(choice ? `${other}/models` : null, way?.[2] ?? {});
  const name = way?.[1] ?? session?.datasets[other]?.name ?? '';
  return { models: choice ? asked.data : null, name, failure: choice ? asked.failure : null };
}

export function Scaling({ name }: { name: string }) {
  const s = state.value;
  const session = useAsk<Session>('session').data;
  const asked = useAsk<Models>(`${s.dataset}/models`, { expect: extra('expect') || undefined });
  const beside = useBeside(s.dataset, session);
  const query = extra('q');
  const sort = extra('ss') || 'at target-';
  const chosen = extra('paths').split('\n').filter(Boolean);
  const setChosen = (paths: string[]) => changeExtra({ paths: paths.join('\n') }, false);
  const all = asked.data;
  const given = extra('at').split(',').map(Number);
  const at = all && given.length === all.parameters.length && given.every((v) => v > 0) ? given : (all?.target ?? []);
  const setPoint = (to: number[] | null) => changeExtra({ at: to ? to.join(',') : '' }, false);
  const metrics = useMemo(() => [...new Set(all?.models.map((m) => m.metric) ?? [])], [all]);
  const metric = extra('sm') || (metrics.includes('time') ? 'time' : (metrics[0] ?? ''));
  const { advice, failure: adviceFailure } = useAdvice(s.dataset, metric);
  const ranked = useMemo(
    () => (all ? rank(all, metric, at, query, sort, beside.models) : []),
    [all, metric, at.join(), query, sort, beside.models],
  );
  // A link names the call path that it is about.
  useEffect(() => {
    const wish = extra('find');
    if (!all || !wish) return;
    changeExtra({ find: '', paths: wish.slice(wish.indexOf(':') + 1) }, false);
  }, [all, extra('find')]);
  const first = ranked[0]?.model.callpath;
  const paths = chosen.length ? chosen : first === undefined ? [] : [first];
  const picked = useMemo(
    () => paths.map((p) => ranked.find((r) => r.model.callpath === p)).filter((r) => r !== undefined),
    [ranked, paths.join('\n')],
  );
  if (asked.failure && !all) return <Failed failure={asked.failure} again={asked.again} />;
  if (!all) return <div class="empty">Fitting models…</div>;
  const save = () =>
    download(
      fileName([name, 'models', metric], 'csv'),
      csvOf(
        ['callpath', 'metric', 'function', 'growth', 'SMAPE', 'AR2', 'now', 'at target', 'share at target'],
        ranked.map(({ model: m, value, share }) => [
          ...[m.callpath, m.metric, m.function, m.growth, m.SMAPE, m.AR2, m.now, value, share],
        ]),
      ),
      'text/csv',
    );
  const others = (session?.datasets ?? [])
    .map((d, i): [string, number, boolean] => [d.name, i, !d.views.scaling])
    .filter(([, i, has]) => has && i !== s.dataset);
  const remark = asked.failure?.message ?? beside.failure?.message;
  return (
    <div class="split" style={{ gridTemplateColumns: 'minmax(0, 6fr) minmax(0, 5fr)' }}>
      <div class="pane">
        <div class="bar">
          <strong>{all.models.length} models</strong>
          <select
            aria-label="metric"
            value={metric}
            onChange={(e) => {
              changeExtra({ sm: e.currentTarget.value, paths: '' });
            }}
          >
            {metrics.map((m) => (
              <option key={m}>{m}</option>
            ))}
          </select>
          {(isLive() || others.length > 0) && (
            <select
              aria-label="another set beside it"
              value={extra('beside')}
              onChange={(e) => changeExtra({ beside: e.currentTarget.value })}
            >
              <option value="">this set alone</option>
              {others.map(([title, i]) => (
                <option key={i} value={`d${i}`}>
                  beside {title}
                </option>
              ))}
              {isLive() &&
                kOtherWays
                  .filter(([key]) => all.parameters.length === 1 || key !== 'modeler:segmented')
                  .map(([key, title]) => (
                    <option key={key} value={key}>
                      beside {title}
                    </option>
                  ))}
            </select>
          )}
          {isLive() && (
            <input
              aria-label="expected growth"
              placeholder="expect log2(p)"
              title="what growth is acceptable: models that grow faster are marked !"
              style={{ width: '132px' }}
              value={extra('expect')}
              onChange={(e) => changeExtra({ expect: e.currentTarget.value.trim() })}
            />
          )}
          <span class="spacer" />
          <input
            type="search"
            aria-label="search"
            placeholder="name or /regex/"
            style={{ width: '160px' }}
            value={query}
            onInput={(e) => changeExtra({ q: e.currentTarget.value }, false)}
          />
          <button onClick={save}>CSV</button>
        </div>
        {remark && (
          <div class="detail" role="alert" style={{ color: 'var(--warn)' }}>
            {remark}
          </div>
        )}
        <ModelTable {...{ ranked, sort, paths }} compared={beside.models !== null} choose={setChosen} />
        <Sliders {...{ all, at, setPoint }} />
      </div>
      <PlotPane
        {...{ name, all, at, advice, adviceFailure }}
        picked={picked.map((r) => r.model)}
        beside={picked.map((r) => r.other)}
        besideName={beside.name}
      />
    </div>
  );
}
