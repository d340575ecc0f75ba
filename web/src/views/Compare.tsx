// Two datasets side by side: which parts became slower or faster, as a table, a call tree or a flame graph.
import { useMemo, useState } from 'preact/hooks';
import { changeOf, comparedTree, relativeOf, relativeText, type ComparedNode, type Normalise } from '../data/compare';
import { csvOf, download, fileName } from '../data/export';
import { readable, toNumber } from '../data/format';
import { matcher } from '../data/tree';
import type { Change, Changes, ComparedTree, Metrics, Session } from '../data/types';
import { useAsk } from '../state/ask';
import { changeExtra, change, extra, withExtra } from '../state/state';
import { colourOf, css } from '../theme/palette';
import { CompareFlame } from '../widgets/CompareFlame';
import { Failed } from '../widgets/Failed';
import { VirtualRows } from '../widgets/VirtualRows';

const kWidths = [104, 104, 148, 76];
const kHeads = ['before', 'after', 'change', '%'];

interface Row {
  key: string;
  name: string;
  before: number | null;
  after: number | null;
  change: number;
  relative: number;
  significant: boolean | null;
  node?: ComparedNode;
}

function signed(value: number, unit: string): string {
  return value > 0 ? `+${readable(value, unit)}` : readable(value, unit);
}

// A bar from the middle: left = less, right = more.
function ChangeBar({ value, largest }: { value: number; largest: number }) {
  const share = largest > 0 ? Math.min(1, Math.abs(value) / largest) * 50 : 0;
  return (
    <div
      class="ink"
      style={{
        left: value < 0 ? `${50 - share}%` : '50%',
        width: `${share}%`,
        background: value < 0 ? 'var(--less)' : 'var(--more)',
        opacity: 0.55,
      }}
    />
  );
}

export function Compare({ session }: { session: Session }) {
  const usable = session.datasets
    .map((d, i) => ({ d, i }))
    .filter(({ d }) => d.views.profile === '' || d.views.scaling === '');
  const a = Number(extra('ca') || (usable[0]?.i ?? 0));
  const b = Number(extra('cb') || (usable[1]?.i ?? 1));
  const before = session.datasets[a];
  const after = session.datasets[b];
  const profiles = before?.views.profile === '' && after?.views.profile === '';
  const mode = profiles ? extra('cv') || 'table' : 'table';
  const flavour = extra('cf') || 'exclusive';
  const match = extra('cm') || 'name';
  const metric = extra('cx');
  const normalise = (extra('cn') || 'none') as Normalise;
  const metrics = useAsk<Metrics>(profiles ? `${a}/metrics` : null);
  const table = useAsk<Changes>('compare', profiles ? { a, b, metric, match, flavour } : { a, b, metric });
  const tree = useAsk<ComparedTree>(mode === 'table' ? null : 'comparetree', { a, b, metric });
  const visits = useAsk<ComparedTree>(
    mode !== 'table' && normalise === 'calls' && metrics.data?.name.includes('visits') ? 'comparetree' : null,
    { a, b, metric: 'visits' },
  );
  const [query, setQuery] = useState('');
  const [sort, setSort] = useState('change-');
  const [open, setOpen] = useState<Set<number> | null>(null);
  const [picked, setPicked] = useState('');

  const inclusive = flavour === 'inclusive';
  const united = useMemo(
    () => (tree.data ? comparedTree(tree.data, inclusive, normalise, visits.data) : null),
    [tree.data, inclusive, normalise, visits.data],
  );
  // A new comparison opens along what changed most.
  const opened = useMemo(() => {
    if (open) return open;
    const out = new Set<number>();
    const whole = united ? comparedTree(tree.data!, true, 'none', null) : null;
    let next = whole?.roots ?? [];
    while (next.length) {
      const most = next.reduce((x, y) => (Math.abs(changeOf(y)) > Math.abs(changeOf(x)) ? y : x));
      out.add(most.node);
      next = most.children;
    }
    return out;
  }, [open, united]);

  const total = table.data?.metrics[0];
  const unit = total?.unit ?? '';
  const [key, falling] = [sort.slice(0, -1), sort.endsWith('-')];
  const order = (x: Row, y: Row) => {
    const sign = falling ? -1 : 1;
    if (key === 'name') return -sign * (x.name < y.name ? 1 : x.name > y.name ? -1 : 0);
    const value = (r: Row) =>
      key === 'before'
        ? (r.before ?? 0)
        : key === 'after'
          ? (r.after ?? 0)
          : key === '%'
            ? r.relative
            : Math.abs(r.change);
    return sign * (value(x) - value(y));
  };
  const hit = matcher(query);
  const rows = useMemo((): Row[] => {
    if (mode === 'table') {
      const scale =
        normalise === 'total' && total && toNumber(total.before) ? toNumber(total.after) / toNumber(total.before) : 1;
      return (table.data?.rows ?? [])
        .filter((r) => !hit || hit(r.path))
        .map((r: Change) => {
          const first = r.before === null ? null : toNumber(r.before) * scale;
          const second = r.after === null ? null : toNumber(r.after);
          return {
            key: r.path,
            name: r.path,
            before: first,
            after: second,
            change: scale === 1 ? toNumber(r.change) : (second ?? 0) - (first ?? 0),
            relative: scale === 1 ? toNumber(r.relative) : relativeOf(first ?? 0, second ?? 0),
            significant: r.significant,
          };
        })
        .sort(order);
    }
    const out: Row[] = [];
    const of = (node: ComparedNode): Row => ({
      key: String(node.node),
      name: node.name,
      before: node.before,
      after: node.after,
      change: changeOf(node),
      relative: relativeOf(node.before ?? 0, node.after ?? 0),
      significant: null,
      node,
    });
    const keeps = (node: ComparedNode): boolean => !hit || hit(node.name) || node.children.some(keeps);
    const add = (nodes: ComparedNode[]) => {
      for (const row of nodes.filter(keeps).map(of).sort(order)) {
        out.push(row);
        if (opened.has(row.node!.node) || hit) add(row.node!.children);
      }
    };
    add(united?.roots ?? []);
    return out;
  }, [mode, table.data, united, opened, query, sort, normalise]);

  const failure = table.failure ?? (mode === 'table' ? null : tree.failure);
  const largest = Math.max(0, ...rows.slice(0, 5000).map((r) => Math.abs(r.change)));
  const choice = (name: string, value: string, options: [string, string][], label: string) => (
    <select aria-label={label} value={value} onChange={(e) => changeExtra({ [name]: e.currentTarget.value })}>
      {options.map(([v, title]) => (
        <option key={v} value={v}>
          {title}
        </option>
      ))}
    </select>
  );
  const datasets = usable.map(({ d, i }) => [String(i), d.name] as [string, string]);
  const save = (kind: 'csv' | 'json') => {
    const name = fileName([before?.name, after?.name, 'compare'], kind);
    const heads = ['path', 'before', 'after', 'change', 'relative'];
    const cells = rows.map((r) => [r.name, r.before, r.after, r.change, r.relative]);
    if (kind === 'csv') download(name, csvOf(heads, cells), 'text/csv');
    else
      download(
        name,
        JSON.stringify(cells.map((c) => Object.fromEntries(heads.map((h, i) => [h, c[i]])))),
        'application/json',
      );
  };
  const toProfile = (row: Row) =>
    change({
      view: 'profile',
      dataset: row.after === null ? a : b,
      node: -1,
      root: -1,
      tree: 'topdown',
      rest: withExtra({ find: `region:${row.name}` }),
    });
  return (
    <div class="pane" style={{ height: '100%' }}>
      <div class="bar">
        {choice('ca', String(a), datasets, 'before')}
        <span class="quiet">→</span>
        {choice('cb', String(b), datasets, 'after')}
        <button
          title="exchange before and after"
          aria-label="exchange"
          onClick={() => changeExtra({ ca: String(b), cb: String(a) })}
        >
          ⇄
        </button>
        {profiles && (
          <>
            <span class="group">
              {['table', 'tree', 'flame'].map((m) => (
                <button key={m} aria-pressed={mode === m} onClick={() => changeExtra({ cv: m === 'table' ? '' : m })}>
                  {m === 'table' ? 'Table' : m === 'tree' ? 'Call tree' : 'Flame graph'}
                </button>
              ))}
            </span>
            {metrics.data &&
              choice(
                'cx',
                metric || metrics.data.likely || '',
                metrics.data.name
                  .filter((_, i) => !metrics.data!.unavailable[i])
                  .map((n) => [n, metrics.data!.title[metrics.data!.name.indexOf(n)] ?? n]),
                'metric',
              )}
            {mode !== 'flame' &&
              choice(
                'cf',
                flavour,
                [
                  ['exclusive', 'exclusive'],
                  ['inclusive', 'inclusive'],
                ],
                'value',
              )}
            {mode === 'table' &&
              choice(
                'cm',
                match,
                [
                  ['name', 'by name'],
                  ['path', 'by call path'],
                  ['line', 'by line'],
                  ['file', 'by file'],
                ],
                'match',
              )}
            {choice(
              'cn',
              normalise,
              [
                ['none', 'as measured'],
                ['total', 'totals made equal'],
                ...((mode !== 'table' && metrics.data?.name.includes('visits') ? [['calls', 'per call']] : []) as [
                  string,
                  string,
                ][]),
              ],
              'normalise',
            )}
          </>
        )}
        <input
          type="search"
          aria-label="search"
          placeholder="name or /regex/"
          style={{ width: '200px' }}
          value={query}
          onInput={(e) => setQuery(e.currentTarget.value)}
        />
        <span class="spacer" />
        <button onClick={() => save('csv')}>CSV</button>
        <button onClick={() => save('json')}>JSON</button>
      </div>
      {failure && <Failed failure={failure} again={table.again} />}
      {total && (
        <div class="bar summary" data-total-change={String(total.change)}>
          <strong>{total.name}</strong>
          <span class="number">
            {readable(toNumber(total.before), unit)} → {readable(toNumber(total.after), unit)}
          </span>
          <span
            class="number"
            style={{
              color:
                toNumber(total.change) > 0 ? 'var(--more-text)' : toNumber(total.change) < 0 ? 'var(--less-text)' : '',
            }}
          >
            {signed(toNumber(total.change), unit)} ({relativeText(toNumber(total.relative))})
          </span>
          <span class="spacer" />
          <span class="scale">
            <i style={{ background: 'var(--less)' }} /> less <i style={{ background: 'var(--more)' }} /> more
          </span>
        </div>
      )}
      {mode === 'flame' && united ? (
        <CompareFlame roots={united.roots} unit={unit} inclusive={tree.data!} name={[before?.name, after?.name]} />
      ) : !table.data && !failure ? (
        <div class="empty">Comparing…</div>
      ) : rows.length ? (
        <VirtualRows
          count={rows.length}
          height={22}
          headHeight={24}
          label="comparison"
          columns={5}
          head={
            <div class="head" role="row">
              {[...kHeads, 'name'].map((h, i) => (
                <div
                  key={h}
                  role="columnheader"
                  style={i < 4 ? { width: `${kWidths[i]}px`, textAlign: 'right' } : { flex: '1 1 auto' }}
                  onClick={() => setSort(key === h ? `${h}${falling ? '+' : '-'}` : `${h}${h === 'name' ? '+' : '-'}`)}
                >
                  {h === 'name' ? (mode === 'tree' ? 'call tree' : match === 'file' ? 'file' : 'name') : h}
                  {key === h ? (falling ? ' ↓' : ' ↑') : ''}
                </div>
              ))}
            </div>
          }
          row={(i, style) => {
            const row = rows[i]!;
            const node = row.node;
            const cell = (v: number | null) => (v === null ? '–' : readable(v, unit));
            return (
              <div
                key={row.key}
                class="row"
                role="row"
                style={style}
                aria-rowindex={i + 2}
                aria-level={node ? node.depth + 1 : undefined}
                aria-selected={picked === row.key}
                onClick={() => setPicked(row.key)}
                onDblClick={() => toProfile(row)}
              >
                <div
                  class="number cell"
                  style={{ width: `${kWidths[0]}px` }}
                  data-before={row.before ?? ''}
                  title={String(row.before)}
                >
                  {cell(row.before)}
                </div>
                <div
                  class="number cell"
                  style={{ width: `${kWidths[1]}px` }}
                  data-after={row.after ?? ''}
                  title={String(row.after)}
                >
                  {cell(row.after)}
                </div>
                <div
                  class="value number"
                  style={{ width: `${kWidths[2]}px` }}
                  data-change={row.change}
                  title={String(row.change)}
                >
                  <ChangeBar value={row.change} largest={largest} />
                  <span>{row.change === 0 ? '0' : signed(row.change, unit)}</span>
                </div>
                <div class="number cell" style={{ width: `${kWidths[3]}px` }} data-relative={String(row.relative)}>
                  {row.after === null ? 'gone' : row.before === null ? 'new' : relativeText(row.relative)}
                </div>
                <div class="name cut" style={{ paddingLeft: `${8 + (node?.depth ?? 0) * 14}px` }} title={row.name}>
                  {node && (
                    <span
                      class="twist"
                      onClick={(e) => {
                        e.stopPropagation();
                        const next = new Set(opened);
                        if (!next.delete(node.node)) next.add(node.node);
                        setOpen(next);
                      }}
                    >
                      {node.childCount ? (opened.has(node.node) ? '▾' : '▸') : ''}
                    </span>
                  )}
                  {node && (
                    <span class="swatch" style={{ background: css(colourOf(node.name, node.paradigm, node.role)) }} />
                  )}
                  <span>{node ? row.name : row.name.replaceAll('->', ' › ')}</span>
                  {row.significant === false && <span class="quiet"> within the scatter</span>}
                </div>
              </div>
            );
          }}
        />
      ) : (
        !failure && <div class="empty">{query ? `Nothing is called '${query}'.` : 'Nothing to compare.'}</div>
      )}
      {picked && mode !== 'flame' && (
        <div class="detail">
          <button onClick={() => toProfile(rows.find((r) => r.key === picked) ?? rows[0]!)}>
            Show in the profile ▸
          </button>{' '}
          <span class="quiet">{rows.find((r) => r.key === picked)?.name.replaceAll('->', ' › ')}</span>
        </div>
      )}
    </div>
  );
}
