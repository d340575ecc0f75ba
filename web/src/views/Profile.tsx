// Call tree, flame graph and distribution of one profile, with one selection.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { csvCell } from '../data/format';
import { hotPath, makeTree, matcher, orderBy, visibleRows, type TreeNode } from '../data/tree';
import type { Metrics, Nodes } from '../data/types';
import { useAsk } from '../state/ask';
import { change, state, type State } from '../state/state';
import { Distribution } from '../widgets/Distribution';
import { Failed } from '../widgets/Failed';
import { Flame } from '../widgets/Flame';
import { TreeTable } from '../widgets/TreeTable';

const kColumns = 3;

// The metric that was chosen, and a few beside it.
function columnsOf(metrics: Metrics, chosen: string): string[] {
  const first = chosen || metrics.likely || metrics.name[0] || '';
  const others = metrics.name.filter(
    (name, i) => name !== first && !metrics.hidden[i] && !metrics.unavailable[i] && metrics.parent[i] === null,
  );
  const liked = ['visits', 'bytes_sent', 'bytes_received', 'messages_sent', 'samples'].filter((n) =>
    others.includes(n),
  );
  return [first, ...new Set([...liked, ...others])].slice(0, kColumns);
}

export function Profile() {
  const s = state.value;
  const metrics = useAsk<Metrics>(`${s.dataset}/metrics`);
  const columns = metrics.data ? columnsOf(metrics.data, s.metric) : [];
  const asked = useAsk<Nodes>(columns.length ? `${s.dataset}/tree` : null, {
    view: s.tree,
    metrics: columns.join(','),
    locations: s.locations,
  });
  const tree = useMemo(() => (asked.data ? makeTree(asked.data) : null), [asked.data]);
  const [open, setOpen] = useState<Set<number>>(new Set());
  const [query, setQuery] = useState('');
  const [onlyHits, setOnlyHits] = useState(false);

  const root = tree && s.root >= 0 ? tree.byNumber.get(s.root) : undefined;
  const start = useMemo(() => (root ? [root] : (tree?.roots ?? [])), [tree, root]);

  // A new tree opens along its hot path: the first look already says something.
  useEffect(() => {
    if (tree) setOpen(new Set(hotPath(start).map((n) => n.node)));
  }, [tree?.all, s.tree, s.root, s.dataset]);

  const match = matcher(query);
  const hits = useMemo(() => {
    if (!tree || !match) return null;
    return new Set([...tree.byNumber.values()].filter((n) => match(n.name)).map((n) => n.node));
  }, [tree, query]);
  const above = useMemo(() => {
    if (!tree || !hits || !onlyHits) return null;
    const out = new Set<number>();
    for (const hit of hits)
      for (let n = tree.byNumber.get(hit); n && !out.has(n.node); n = tree.byNumber.get(n.parent)) out.add(n.node);
    return out;
  }, [tree, hits, onlyHits]);

  if (metrics.failure) return <Failed failure={metrics.failure} again={metrics.again} />;
  if (asked.failure) return <Failed failure={asked.failure} again={asked.again} />;
  if (!tree || !metrics.data) return <div class="empty">Reading the profile…</div>;

  const rows = visibleRows(
    start,
    above ? new Set([...open, ...above]) : open,
    orderBy(s.sort),
    above ? (n) => above.has(n.node) : null,
  );
  const selected = tree.byNumber.get(s.node);
  const toggle = (node: TreeNode) => {
    const next = new Set(open);
    if (!next.delete(node.node)) next.add(node.node);
    setOpen(next);
  };
  const openPath = (path: TreeNode[]) => {
    setOpen(new Set([...open, ...path.map((n) => n.node)]));
    const last = path[path.length - 1];
    if (last) change({ node: last.node }, false);
  };
  const hot = () => openPath(hotPath(selected ? [selected] : start));
  const expandAll = () => setOpen(new Set([...tree.byNumber.values()].filter((n) => n.childCount).map((n) => n.node)));
  const step = (forward: boolean) => {
    if (!hits?.size) return;
    const list = [...hits].sort((a, b) => a - b);
    const at = list.findIndex((n) => n >= s.node);
    const next = forward
      ? (list.find((n) => n > s.node) ?? list[0])
      : (list[(at <= 0 ? list.length : at) - 1] ?? list[0]);
    const node = tree.byNumber.get(next ?? -1);
    if (!node) return;
    const path: TreeNode[] = [];
    for (let n = tree.byNumber.get(node.parent); n; n = tree.byNumber.get(n.parent)) path.push(n);
    setOpen(new Set([...open, ...path.map((n) => n.node)]));
    change({ node: node.node }, false);
  };
  const onKey = (event: KeyboardEvent) => {
    const at = rows.findIndex((r) => r.node === s.node);
    const row = rows[at];
    const go = (i: number) => change({ node: rows[Math.min(rows.length - 1, Math.max(0, i))]?.node ?? -1 }, false);
    const keys: Record<string, () => void> = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      PageDown: () => go(at + 20),
      PageUp: () => go(at - 20),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      ArrowRight: () => row && (open.has(row.node) ? go(at + 1) : row.childCount && toggle(row)),
      ArrowLeft: () =>
        row &&
        (open.has(row.node) ? toggle(row) : tree.byNumber.has(row.parent) && change({ node: row.parent }, false)),
      ' ': () => row?.childCount && toggle(row),
      Enter: () => row && change({ root: row.node }),
      Backspace: () => change({ root: root && tree.byNumber.has(root.parent) ? root.parent : -1 }),
    };
    const action = keys[event.key];
    if (action && !event.ctrlKey && !event.metaKey) {
      action();
      event.preventDefault();
      event.stopPropagation();
    }
  };
  const copyCsv = () => {
    const lines = [
      ['name', ...tree.metrics.flatMap((m) => [`${m.name} inclusive`, `${m.name} exclusive`])],
      ...rows.map((r) => [r.name, ...tree.metrics.flatMap((_, k) => [String(r.inclusive[k]), String(r.exclusive[k])])]),
    ];
    const text = lines.map((cells) => cells.map(csvCell).join(',')).join('\n');
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text + '\n'], { type: 'text/csv' }));
    link.download = `tree-${s.tree}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const crumbs: TreeNode[] = [];
  for (let n = root; n; n = tree.byNumber.get(n.parent)) crumbs.unshift(n);

  const choice = <K extends keyof State>(key: K, options: [State[K], string][], label: string) => (
    <select
      aria-label={label}
      value={String(s[key])}
      onChange={(e) =>
        change({ [key]: e.currentTarget.value as State[K], ...(key === 'tree' ? { node: -1, root: -1 } : {}) })
      }
    >
      {options.map(([value, title]) => (
        <option key={String(value)} value={String(value)}>
          {title}
        </option>
      ))}
    </select>
  );
  return (
    <div class="split" style={{ gridTemplateColumns: 'minmax(0, 3fr) minmax(0, 2fr)' }}>
      <div class="pane">
        <div class="bar">
          {choice(
            'tree',
            [
              ['topdown', 'top down'],
              ['bottomup', 'bottom up'],
              ['flat', 'flat'],
            ],
            'view',
          )}
          <select aria-label="metric" value={columns[0]} onChange={(e) => change({ metric: e.currentTarget.value })}>
            {metrics.data.name.map((name, i) => (
              <option
                key={name}
                value={name}
                disabled={metrics.data!.unavailable[i] !== ''}
                title={metrics.data!.unavailable[i]}
              >
                {metrics.data!.title[i]}
              </option>
            ))}
          </select>
          {choice(
            'values',
            [
              ['inclusive', 'inclusive'],
              ['exclusive', 'exclusive'],
              ['cube', 'closed incl., open excl.'],
            ],
            'value',
          )}
          {choice(
            'percent',
            [
              ['total', '% of total'],
              ['parent', '% of parent'],
              ['selection', '% of selection'],
              ['absolute', 'absolute'],
            ],
            'percent',
          )}
          <button onClick={hot} title="H">
            Hot path
          </button>
          <button onClick={expandAll} title="E">
            Expand
          </button>
          <button onClick={() => setOpen(new Set())} title="Shift+E">
            Collapse
          </button>
          <button onClick={copyCsv}>CSV</button>
        </div>
        <div class="bar">
          <input
            type="search"
            placeholder="search: part of a name, or /regex/"
            aria-label="search"
            style={{ width: '240px' }}
            value={query}
            onInput={(e) => setQuery(e.currentTarget.value)}
            onKeyDown={(e) => e.key === 'Enter' && step(!e.shiftKey)}
          />
          {hits && (
            <span class="quiet">
              {hits.size} {hits.size === 1 ? 'hit' : 'hits'}
            </span>
          )}
          {hits && (
            <button onClick={() => step(false)} aria-label="previous hit">
              ↑
            </button>
          )}
          {hits && (
            <button onClick={() => step(true)} aria-label="next hit">
              ↓
            </button>
          )}
          {hits && (
            <button aria-pressed={onlyHits} onClick={() => setOnlyHits(!onlyHits)}>
              only hits
            </button>
          )}
          {crumbs.length > 0 && (
            <span class="cut">
              <button onClick={() => change({ root: -1 })}>all</button>
              {crumbs.map((n) => (
                <button key={n.node} onClick={() => change({ root: n.node })} title={n.name}>
                  › {n.name.slice(0, 24)}
                </button>
              ))}
            </span>
          )}
          {asked.data && asked.data.node.length < asked.data.all && (
            <span class="quiet">
              the {asked.data.node.length} heaviest of {asked.data.all} nodes
            </span>
          )}
        </div>
        {rows.length ? (
          <TreeTable tree={tree} rows={rows} open={open} toggle={toggle} hits={hits} onKey={onKey} />
        ) : (
          <div class="empty">{query ? `Nothing is called '${query}'.` : 'This profile has no call tree.'}</div>
        )}
      </div>
      <div class="split" style={{ gridTemplateRows: 'minmax(0, 3fr) minmax(0, 2fr)' }}>
        <Flame tree={tree} start={start} hits={hits} />
        <Distribution
          metric={columns[0] ?? ''}
          title={selected && s.tree === 'topdown' ? selected.name : 'whole program'}
          context={selected && s.tree === 'topdown' ? selected.node : -1}
        />
      </div>
    </div>
  );
}
