// Call tree, flame graph and what belongs to the selected node, with one selection.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { csvOf, download, fileName } from '../data/export';
import { percent } from '../data/format';
import { ancestors, findNode, outermost, pathOf } from '../data/find';
import { hotPath, makeTree, matcher, orderBy, visibleRows, type TreeNode } from '../data/tree';
import type { Metrics, Nodes } from '../data/types';
import { isLive, useAsk } from '../state/ask';
import { shapeQuery } from '../state/shape';
import { change, changeExtra, extra, state, withExtra } from '../state/state';
import { ColumnsSheet } from '../widgets/ColumnsSheet';
import { DeriveSheet } from '../widgets/DeriveSheet';
import { Failed } from '../widgets/Failed';
import { Flame } from '../widgets/Flame';
import { NodePanes } from '../widgets/NodePanes';
import { NodeTools } from '../widgets/NodeTools';
import { Choice } from '../widgets/Choice';
import { TreeTable } from '../widgets/TreeTable';

const kColumns = 3;

// The metric that was chosen, and a few beside it; or the columns of the address.
function columnsOf(metrics: Metrics, chosen: string): string[] {
  const usable = (name: string) => metrics.unavailable[metrics.name.indexOf(name)] === '';
  const listed = extra('cols')
    .split('\n')
    .filter((n) => n && usable(n));
  if (listed.length) return listed;
  const first = chosen || metrics.likely || metrics.name[0] || '';
  const others = metrics.name.filter(
    (name, i) => name !== first && !metrics.hidden[i] && usable(name) && metrics.parent[i] === null,
  );
  const derived = [...extra('derive').split('\n'), ...extra('cubepl').split('\n')]
    .map((l) => l.split('=')[0]?.trim() ?? '')
    .filter((n) => others.includes(n));
  const liked = ['visits', 'bytes_sent', 'bytes_received', 'messages_sent', 'samples'].filter((n) =>
    others.includes(n),
  );
  return [first, ...new Set([...derived, ...liked, ...others])].slice(0, Math.max(kColumns, 1 + derived.length + 1));
}

export function Profile({ name }: { name: string }) {
  const s = state.value;
  const shape = shapeQuery();
  const metrics = useAsk<Metrics>(`${s.dataset}/metrics`, shape);
  const columns = metrics.data ? columnsOf(metrics.data, s.metric) : [];
  const question = { view: s.tree, metrics: columns.join('\n'), locations: s.locations, ...shape };
  const whole = useAsk<Nodes>(columns.length ? `${s.dataset}/tree` : null, question);
  const query = extra('q');
  const onlyHits = extra('only') === '1';
  // Where not all nodes are here, the server looks for the others.
  const partial = !!whole.data && whole.data.node.length < whole.data.all && isLive();
  const searched = useAsk<Nodes>(partial && query ? `${s.dataset}/search` : null, { ...question, text: query });
  const asked = partial && query && searched.data ? searched : whole;
  const tree = useMemo(() => (asked.data ? makeTree(asked.data) : null), [asked.data]);
  const [open, setOpen] = useState<Set<number>>(new Set());
  const [sheet, setSheet] = useState<'' | 'columns' | 'derive'>('');

  const root = tree && s.root >= 0 ? tree.byNumber.get(s.root) : undefined;
  const start = useMemo(() => (root ? [root] : (tree?.roots ?? [])), [tree, root]);
  const share = Number(extra('hot') || 50) / 100;

  // A new tree opens along its hot path: the first look already says something.
  useEffect(() => {
    if (!tree) return;
    const wish = extra('find');
    const node = wish ? findNode(tree, wish) : undefined;
    if (node) {
      setOpen(new Set([...ancestors(tree, node), ...(wish.startsWith('callers:') ? [node] : [])].map((n) => n.node)));
      change(
        { node: node.node, root: wish.startsWith('callers:') ? node.node : s.root, rest: withExtra({ find: '' }) },
        false,
      );
      return;
    }
    const chosen = tree.byNumber.get(s.node);
    setOpen(new Set([...hotPath(start, share), ...(chosen ? ancestors(tree, chosen) : [])].map((n) => n.node)));
  }, [tree?.all, s.tree, s.root, s.dataset, extra('find'), extra('hide')]);

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
  const taken = useMemo(
    () => (tree && hits ? outermost(tree, hits).reduce((sum, n) => sum + (n.inclusive[0] ?? 0), 0) : 0),
    [tree, hits],
  );

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
  const reveal = (node: TreeNode) => {
    setOpen(new Set([...open, ...ancestors(tree, node).map((n) => n.node)]));
    change({ node: node.node }, false);
  };
  const hot = () => {
    const path = hotPath(selected ? [selected] : start, share);
    setOpen(new Set([...open, ...path.map((n) => n.node)]));
    const last = path[path.length - 1];
    if (last) change({ node: last.node }, false);
  };
  const all = [...tree.byNumber.values()];
  const expandTo = (level: number) =>
    setOpen(new Set(all.filter((n) => n.childCount && n.depth < level).map((n) => n.node)));
  const expandBelow = () => {
    const out = new Set(open);
    const add = (n: TreeNode) => {
      out.add(n.node);
      n.children.forEach(add);
    };
    if (selected) add(selected);
    setOpen(out);
  };
  const step = (forward: boolean) => {
    if (!hits?.size) return;
    const list = [...hits].sort((a, b) => a - b);
    const at = list.findIndex((n) => n >= s.node);
    const next = forward
      ? (list.find((n) => n > s.node) ?? list[0])
      : (list[(at <= 0 ? list.length : at) - 1] ?? list[0]);
    const node = tree.byNumber.get(next ?? -1);
    if (node) reveal(node);
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
      c: () => row && void navigator.clipboard?.writeText(row.name),
    };
    const action = keys[event.key];
    if (action && !event.ctrlKey && !event.metaKey) {
      action();
      event.preventDefault();
      event.stopPropagation();
    }
  };
  const table = () => ({
    heads: ['path', ...tree.metrics.flatMap((m) => [`${m.name} inclusive`, `${m.name} exclusive`])],
    rows: rows.map((r) => [
      pathOf(tree, r),
      ...tree.metrics.flatMap((_, k) => [r.inclusive[k] ?? null, r.exclusive[k] ?? null]),
    ]),
  });
  const save = (kind: 'csv' | 'json') => {
    const { heads, rows: cells } = table();
    const file = fileName([name, s.tree, s.locations], kind);
    if (kind === 'csv') download(file, csvOf(heads, cells), 'text/csv');
    else
      download(
        file,
        JSON.stringify(cells.map((c) => Object.fromEntries(heads.map((h, i) => [h, c[i]])))),
        'application/json',
      );
  };
  const crumbs = root ? [...ancestors(tree, root), root] : [];
  const node = selected && s.tree === 'topdown' ? selected : undefined;
  return (
    <div class="split profile">
      <div class="pane">
        <div class="bar">
          <Choice
            name="tree"
            label="view"
            options={[
              ['topdown', 'top down'],
              ['bottomup', 'bottom up'],
              ['flat', 'flat'],
              ['modules', 'modules'],
            ]}
            also={{ node: -1, root: -1 }}
          />
          <select
            aria-label="metric"
            value={columns[0]}
            onChange={(e) => change({ metric: e.currentTarget.value, rest: withExtra({ cols: '' }) })}
          >
            {metrics.data.name.map((m, i) => (
              <option
                key={m}
                value={m}
                disabled={metrics.data!.unavailable[i] !== ''}
                title={metrics.data!.unavailable[i]}
              >
                {metrics.data!.title[i]}
              </option>
            ))}
          </select>
          <Choice
            name="values"
            label="value"
            options={[
              ['inclusive', 'inclusive'],
              ['exclusive', 'exclusive'],
              ['cube', 'closed incl., open excl.'],
            ]}
          />
          <Choice
            name="percent"
            label="percent"
            options={[
              ['total', '% of total'],
              ['parent', '% of parent'],
              ['selection', '% of selection'],
              ['absolute', 'absolute'],
            ]}
          />
          <button onClick={() => setSheet('columns')}>Columns</button>
          {isLive() && (
            <button onClick={() => setSheet('derive')} title="a metric computed from others">
              ƒ Derive
            </button>
          )}
          <span class="spacer" />
          <span class="saves">
            <button onClick={() => save('csv')}>CSV</button>
            <button onClick={() => save('json')}>JSON</button>
          </span>
        </div>
        <div class="bar">
          <input
            type="search"
            placeholder="search: name or /regex/"
            aria-label="search"
            style={{ width: '220px' }}
            value={query}
            onInput={(e) => changeExtra({ q: e.currentTarget.value }, false)}
            onKeyDown={(e) => e.key === 'Enter' && step(!e.shiftKey)}
          />
          {query && !match && <span class="wrong">no regular expression</span>}
          {hits && (
            <>
              <span class="quiet" data-hits={hits.size}>
                {hits.size.toLocaleString('en')} {hits.size === 1 ? 'hit' : 'hits'},{' '}
                {percent(taken, tree.metrics[0]!.total)}
              </span>
              <button onClick={() => step(false)} aria-label="previous hit" title="Shift+Enter">
                ↑
              </button>
              <button onClick={() => step(true)} aria-label="next hit" title="Enter">
                ↓
              </button>
              <button aria-pressed={onlyHits} onClick={() => changeExtra({ only: onlyHits ? '' : '1' })}>
                only hits
              </button>
            </>
          )}
          <span class="spacer" />
          <button onClick={hot} title="H: follow the heaviest callee while it has this share of its caller">
            Hot path
          </button>
          <input
            type="number"
            aria-label="hot path: least share in %"
            title="least share of the caller, in %"
            min={1}
            max={100}
            style={{ width: '52px' }}
            value={extra('hot') || '50'}
            onChange={(e) => changeExtra({ hot: e.currentTarget.value === '50' ? '' : e.currentTarget.value })}
          />
          <button onClick={() => expandTo(1e9)} title="E">
            Expand
          </button>
          <select
            aria-label="expand to level"
            value=""
            style={{ width: '92px' }}
            onChange={(e) => {
              const value = e.currentTarget.value;
              e.currentTarget.value = '';
              if (value === 'below') expandBelow();
              else expandTo(Number(value));
            }}
          >
            <option value="">to level…</option>
            {[1, 2, 3, 4, 6, 8].map((n) => (
              <option key={n} value={String(n)}>
                {n}
              </option>
            ))}
            <option value="below">below the selection</option>
          </select>
          <button onClick={() => setOpen(new Set())} title="Shift+E">
            Collapse
          </button>
        </div>
        {(crumbs.length > 0 || partial) && (
          <div class="bar">
            {crumbs.length > 0 && (
              <span class="crumbs cut">
                <button onClick={() => change({ root: -1 })}>all</button>
                {crumbs.map((n) => (
                  <button key={n.node} onClick={() => change({ root: n.node })} title={n.name}>
                    › {n.name.slice(0, 28)}
                  </button>
                ))}
              </span>
            )}
            {partial && (
              <span class="quiet">
                the {tree.byNumber.size.toLocaleString('en')} heaviest of {tree.all.toLocaleString('en')} nodes; search
                finds the others
              </span>
            )}
          </div>
        )}
        {rows.length ? (
          <TreeTable
            tree={tree}
            rows={rows}
            open={open}
            toggle={toggle}
            hits={hits}
            onKey={onKey}
            columns={columns}
            setColumns={(list) => change({ metric: '', rest: withExtra({ cols: list.join('\n') }) }, false)}
          />
        ) : (
          <div class="empty">{query ? `Nothing is called '${query}'.` : 'This profile has no call tree.'}</div>
        )}
        <NodeTools tree={tree} node={selected} />
      </div>
      <div class="split" style={{ gridTemplateRows: 'minmax(0, 3fr) minmax(0, 2fr)' }}>
        <Flame tree={tree} start={start} hits={hits} name={name} />
        <NodePanes metric={columns[0] ?? ''} node={node} name={name} />
      </div>
      {sheet === 'columns' && (
        <ColumnsSheet
          metrics={metrics.data}
          columns={columns}
          set={(list) => change({ metric: '', rest: withExtra({ cols: list.join('\n') }) }, false)}
          close={() => setSheet('')}
        />
      )}
      {sheet === 'derive' && <DeriveSheet metrics={metrics.data} close={() => setSheet('')} />}
    </div>
  );
}
