// What is wrong and why, the costliest first; every finding leads to the place that shows it.
import { useMemo } from 'preact/hooks';
import { percent, readable, toNumber } from '../data/format';
import type { Dataset, Finding, Findings, LocationShare, Locations, Wire } from '../data/types';
import { useAsk } from '../state/ask';
import { change, rangesOf, state, withExtra } from '../state/state';
import { whyNot } from '../state/views';
import { Failed } from '../widgets/Failed';

const kEfficiencies: [string, string][] = [
  ['parallel', 'Parallel efficiency'],
  ['load_balance', 'Load balance'],
  ['communication', 'Communication efficiency'],
  ['serialisation', 'Serialisation efficiency'],
  ['transfer', 'Transfer efficiency'],
];

const words = (kind: string) => kind.replaceAll('_', ' ');
const seconds = (s: number) => readable(s, 's');
const pathText = (path: string) => path.replaceAll('->', ' › ');

function numberText(value: Wire): string {
  if (typeof value === 'string' || value === null) return value ?? '–';
  return Number.isInteger(value) ? value.toLocaleString('en') : String(Number(value.toPrecision(4)));
}

function who(share: LocationShare): string {
  return share.rank >= 0 ? `rank ${share.rank}` : share.location;
}

function Doors({
  finding,
  views,
  locations,
}: {
  finding: Finding;
  views: Dataset['views'];
  locations: Locations | null;
}) {
  const { region, callpath, from_s: from, to_s: to } = finding.where;
  const people = finding.culprits.length ? finding.culprits : finding.victims;
  const numbers = people.map((p) => locations?.label.indexOf(p.location) ?? -1).filter((n) => n >= 0);
  const place = callpath ? { find: `path:${callpath}` } : region ? { find: `region:${region}` } : null;
  const window =
    from !== undefined && to !== undefined ? { w: `${Math.round(from * 1e9)}-${Math.round(to * 1e9)}` } : null;
  const go = (view: 'profile' | 'timeline' | 'scaling', extra: Record<string, string>, chosen: string) =>
    change({ view, node: -1, root: -1, tree: 'topdown', locations: chosen, rest: withExtra(extra) });
  const doors = [];
  if (place && !views.profile) {
    doors.push(['Call path', () => go('profile', place, '')] as const);
    if (numbers.length)
      doors.push([
        `Call path on ${numbers.length === 1 ? who(people[0]!) : `${numbers.length} locations`}`,
        () => go('profile', place, rangesOf(numbers)),
      ] as const);
  }
  if (window && !views.timeline) doors.push(['Timeline', () => go('timeline', window, '')] as const);
  if (callpath && !views.scaling) doors.push(['Model', () => go('scaling', { find: `path:${callpath}` }, '')] as const);
  return (
    <div class="links">
      {doors.map(([title, run]) => (
        <button key={title} onClick={run}>
          {title} ▸
        </button>
      ))}
    </div>
  );
}

function Card({
  finding,
  number,
  views,
  locations,
  metric,
}: {
  finding: Finding;
  number: number;
  views: Dataset['views'];
  locations: Locations | null;
  metric?: string;
}) {
  const seconds = (s: number) => readable(s, finding.unit ?? 's');
  const shares = (list: LocationShare[], more = 0) =>
    list
      .slice(0, 8)
      .map((p) => `${who(p)} ${p.share === undefined ? seconds(p.s) : percent(p.share, 1)}`)
      .join(' · ') + (list.length + more > 8 ? ` · ${list.length + more - Math.min(8, list.length)} more` : '');
  return (
    <article class={`finding ${finding.level}`} data-finding={finding.kind} data-severity={finding.severity}>
      <header>
        <span class="badge">{finding.level}</span>
        <strong>
          {number}. {words(finding.kind)}
        </strong>
        <span class="spacer" />
        <span class="number" title={`${finding.severity} of all ${finding.unit === undefined ? 'time' : metric}`}>
          {percent(finding.severity, 1)} · {seconds(finding.lost_s)}
        </span>
      </header>
      <div class="severity">
        <div style={{ width: `${Math.min(100, 100 * finding.severity)}%` }} />
      </div>
      <p>{finding.text}</p>
      {finding.advice && <p class="advice">{finding.advice}</p>}
      <dl class="facts">
        {finding.where.callpath && (
          <>
            <dt>where</dt>
            <dd>{pathText(finding.where.callpath)}</dd>
          </>
        )}
        {finding.culprits.length > 0 && (
          <>
            <dt>caused by</dt>
            <dd>{shares(finding.culprits, finding.culprits_more)}</dd>
          </>
        )}
        {finding.victims.length > 0 && (
          <>
            <dt>borne by</dt>
            <dd>{shares(finding.victims, finding.more)}</dd>
          </>
        )}
        {finding.where.regions.length > 0 && (
          <>
            <dt>in</dt>
            <dd>
              {finding.where.regions
                .slice(0, 6)
                .map((r) => `${r.name} ${seconds(r.s)}`)
                .join(' · ')}
            </dd>
          </>
        )}
        {finding.where.callpaths && (
          <>
            <dt>late in</dt>
            <dd data-callpaths>
              {finding.where.callpaths.map((p) => `${pathText(p.name)} ${seconds(p.s)}`).join(' · ')}
              {finding.where.callpaths_more ? ` · ${finding.where.callpaths_more} more` : ''}
            </dd>
          </>
        )}
        {Object.entries(finding.evidence)
          .filter(([, value]) => (typeof value === 'object' ? Object.keys(value ?? {}).length > 0 : value !== 0))
          .map(([name, value]) => (
            <>
              <dt>{words(name).replace(/ s$/, '')}</dt>
              <dd>
                {typeof value === 'object' && value !== null
                  ? Object.entries(value)
                      .map(([k, v]) => `${words(k)} ${seconds(v)}`)
                      .join(' · ')
                  : name.endsWith('_s')
                    ? seconds(toNumber(value))
                    : numberText(value)}
              </dd>
            </>
          ))}
      </dl>
      <Doors finding={finding} views={views} locations={locations} />
    </article>
  );
}

function Efficiencies({ numbers }: { numbers: Record<string, Wire> }) {
  return (
    <section>
      <h2>Efficiencies</h2>
      <table class="plain wide" data-table="efficiencies">
        <tbody>
          {kEfficiencies.map(([key, title]) => {
            const value = numbers[key];
            return (
              <tr key={key}>
                <th style={{ paddingLeft: key === 'parallel' ? 0 : /serial|transfer/.test(key) ? '24px' : '12px' }}>
                  {title}
                </th>
                <td class="number" data-value={value ?? ''}>
                  {value === null || value === undefined ? '–' : percent(toNumber(value), 1)}
                </td>
                <td style={{ width: '40%' }}>
                  {value !== null && value !== undefined && (
                    <div class="meter">
                      <div style={{ width: `${100 * Math.min(1, Math.max(0, toNumber(value)))}%` }} />
                    </div>
                  )}
                </td>
              </tr>
            );
          })}
          {(['runtime_s', 'ideal_runtime_s', 'useful_mean_s', 'useful_max_s'] as const).map((key) => (
            <tr key={key}>
              <th>{words(key.slice(0, -2))}</th>
              <td class="number" data-value={numbers[key] ?? ''}>
                {numbers[key] === null || numbers[key] === undefined ? '–' : seconds(toNumber(numbers[key]))}
              </td>
              <td />
            </tr>
          ))}
        </tbody>
      </table>
      {typeof numbers['why_not'] === 'string' && <p class="quiet">{numbers['why_not']}</p>}
    </section>
  );
}

function Numbers({ title, heads, rows }: { title: string; heads: string[]; rows: (string | number)[][] }) {
  if (!rows.length) return null;
  return (
    <section>
      <h2>{title}</h2>
      <table class="plain wide">
        <thead>
          <tr>
            {heads.map((h, i) => (
              <th key={h} class={i ? 'number' : ''}>
                {h}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, 25).map((row, i) => (
            <tr key={i}>
              {row.map((cell, k) => (
                <td key={k} class={k ? 'number' : 'cut'} style={k ? {} : { maxWidth: '240px' }} title={String(cell)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > 25 && <p class="quiet">{rows.length - 25} more: fathom report --json</p>}
    </section>
  );
}

// A delay, and below it the call paths in which it was.
function delayRows(d: NonNullable<Findings['delay_costs']>[number]): (string | number)[][] {
  const rows = [[d.activity, d.rank >= 0 ? `rank ${d.rank}` : d.location, seconds(d.short_s), seconds(d.long_s)]];
  for (const p of d.callpaths ?? []) rows.push([`↳ ${pathText(p.name)}`, '', seconds(p.short_s), seconds(p.long_s)]);
  if (d.callpaths_more) rows.push([`↳ ${d.callpaths_more} more call paths`, '', '', '']);
  return rows;
}

export function FindingsView({ dataset }: { dataset: Dataset }) {
  const s = state.value;
  const asked = useAsk<Findings>(`${s.dataset}/findings`);
  const names = useAsk<Locations>(dataset.views.profile ? null : `${s.dataset}/locations`);
  const f = asked.data;
  // A report may lack what the data have.
  const reachable = Object.fromEntries(
    Object.keys(dataset.views).map((view) => [view, whyNot(dataset, view)]),
  ) as Dataset['views'];
  const worst = useMemo(() => f?.findings.filter((x) => x.level === 'problem').length ?? 0, [f]);
  if (asked.failure) return <Failed failure={asked.failure} again={asked.again} />;
  if (!f) return <div class="empty">Looking for what is wrong…</div>;
  return (
    <div class={`page findings${f.efficiencies || f.iterations || f.pattern ? '' : ' alone'}`}>
      <div>
        <h2>
          {f.findings.length
            ? `${f.findings.length} findings${worst ? `, ${worst} of them ${worst === 1 ? 'a problem' : 'problems'}` : ''}`
            : 'Nothing stands out'}
        </h2>
        <p class="quiet" style={{ marginTop: 0 }}>
          {f.runtime_s !== undefined && `${seconds(f.runtime_s)} of runtime · `}
          {f.location_time_s !== undefined &&
            `${readable(f.location_time_s, f.unit ?? 's')} over ${f.locations} locations · `}
          ranked by the share of all {f.metric ?? 'time'} that they cost
        </p>
        {!f.findings.length && (
          <p class="empty">No rule found more than half a per cent of all time lost. The profile says where it goes.</p>
        )}
        {f.findings.map((finding, i) => (
          <Card key={i} finding={finding} number={i + 1} views={reachable} locations={names.data} metric={f.metric} />
        ))}
      </div>
      <aside>
        {f.efficiencies && <Efficiencies numbers={f.efficiencies} />}
        <Numbers
          title="Wait states"
          heads={['kind', 'time', 'share', 'count']}
          rows={Object.entries(f.wait_states ?? {}).map(([kind, w]) => [
            words(kind),
            seconds(w.s),
            percent(w.share, 1),
            w.count.toLocaleString('en'),
          ])}
        />
        <Numbers
          title="Critical path"
          heads={['activity', 'where', 'time', 'share', 'imbalance']}
          rows={(f.critical_path ?? []).map((p) => [
            p.activity,
            p.rank >= 0 ? `rank ${p.rank}` : p.location,
            seconds(p.s),
            percent(p.share, 1),
            seconds(p.imbalance_s),
          ])}
        />
        <Numbers
          title="Delay costs"
          heads={['activity', 'where', 'direct', 'passed on']}
          rows={(f.delay_costs ?? []).flatMap(delayRows)}
        />
        {f.iterations && (
          <Numbers
            title={`${f.iterations.count} iterations, ${seconds(f.iterations.median_s)} each`}
            heads={['phase', 'median', 'parallel', 'balance']}
            rows={f.iterations.phases.map((p) => [
              `${seconds(p.from_s)} – ${seconds(p.to_s)}`,
              seconds(p.median_s),
              percent(p.parallel, 1),
              percent(p.load_balance, 1),
            ])}
          />
        )}
        {f.pattern && (
          <Numbers
            title="Communication pattern"
            heads={['pattern', 'messages', 'mean size']}
            rows={[[f.pattern.class, f.pattern.messages.toLocaleString('en'), readable(f.pattern.mean_bytes, 'bytes')]]}
          />
        )}
      </aside>
    </div>
  );
}
