// The call tree as a table: metric columns with bars, every level sortable.
import type { TreeNode, Tree } from '../data/tree';
import { percent, readable } from '../data/format';
import { change, state, type State } from '../state/state';
import { colourOf, css } from '../theme/palette';
import { VirtualRows } from './VirtualRows';

interface Props {
  tree: Tree;
  rows: TreeNode[];
  open: ReadonlySet<number>;
  toggle: (node: TreeNode) => void;
  hits: ReadonlySet<number> | null;
  onKey: (event: KeyboardEvent) => void;
}

const kWidth = 132;

// Which of the two values a row shows, by the choice above the table; Cube's way: closed = inclusive, open = exclusive.
export function shownValue(node: TreeNode, metric: number, mode: State['values'], open: boolean): number {
  const inclusive = mode === 'inclusive' || (mode === 'cube' && !open);
  return (inclusive ? node.inclusive[metric] : node.exclusive[metric]) ?? NaN;
}

export function TreeTable({ tree, rows, open, toggle, hits, onKey }: Props) {
  const s = state.value;
  const selected = rows.findIndex((r) => r.node === s.node);
  const base = (node: TreeNode, metric: number): number => {
    if (s.percent === 'parent') return tree.byNumber.get(node.parent)?.inclusive[metric] ?? tree.metrics[metric]!.total;
    if (s.percent === 'selection') return tree.byNumber.get(s.node)?.inclusive[metric] ?? tree.metrics[metric]!.total;
    return tree.metrics[metric]!.total;
  };
  const letter = s.values === 'exclusive' ? 'e' : 'i';
  const sortBy = (column: string) =>
    change({
      sort:
        s.sort.slice(0, -1) === column
          ? `${column}${s.sort.endsWith('-') ? '+' : '-'}`
          : `${column}${column === 'name' ? '+' : '-'}`,
    });
  const arrow = (column: string) => (s.sort.slice(0, -1) === column ? (s.sort.endsWith('-') ? ' ↓' : ' ↑') : '');
  const head = (
    <div class="head" role="row">
      {tree.metrics.map((m, i) => (
        <div
          role="columnheader"
          style={{ width: `${kWidth}px`, textAlign: 'right' }}
          title={`${m.name}, ${readable(m.total, m.unit)} in total`}
          onClick={() => sortBy(`${letter}${i}`)}
        >
          {m.name}
          {arrow(`${letter}${i}`)}
        </div>
      ))}
      <div role="columnheader" style={{ flex: '1 1 auto' }} onClick={() => sortBy('name')}>
        {s.tree === 'topdown' ? 'call tree' : s.tree === 'bottomup' ? 'region ← callers' : 'region'}
        {arrow('name')}
      </div>
    </div>
  );
  return (
    <VirtualRows
      count={rows.length}
      height={22}
      head={head}
      headHeight={24}
      label="call tree"
      columns={tree.metrics.length + 1}
      reveal={selected}
      onKeyDown={onKey}
      row={(i, style) => {
        const node = rows[i]!;
        const isOpen = open.has(node.node);
        return (
          <div
            key={node.node}
            class="row"
            role="row"
            style={style}
            aria-level={node.depth + 1}
            aria-rowindex={i + 2}
            aria-selected={node.node === s.node}
            aria-expanded={node.childCount ? isOpen : undefined}
            data-node={node.node}
            onClick={() => change({ node: node.node }, false)}
            onDblClick={() => node.childCount && toggle(node)}
          >
            {tree.metrics.map((m, k) => {
              const value = shownValue(node, k, s.values, isOpen);
              const share = value / base(node, k);
              return (
                <div
                  class="value number"
                  role="gridcell"
                  style={{ width: `${kWidth}px` }}
                  data-value={value}
                  title={`${value} ${m.unit}`}
                >
                  <div
                    class="ink"
                    style={{ width: `${Math.min(100, Math.max(0, 100 * Math.abs(value / m.total)))}%` }}
                  />
                  <span>
                    {readable(value, m.unit)}
                    {s.percent !== 'absolute' && Number.isFinite(share) ? (
                      <span class="quiet"> {percent(value, base(node, k)).padStart(6, ' ')}</span>
                    ) : null}
                  </span>
                </div>
              );
            })}
            <div
              class="name cut"
              role="gridcell"
              style={{ paddingLeft: `${8 + node.depth * 14}px` }}
              title={`${node.name}${node.place ? `\n${node.place}` : ''}`}
            >
              <span
                class="twist"
                onClick={(event) => {
                  event.stopPropagation();
                  if (node.childCount) toggle(node);
                }}
              >
                {node.childCount ? (isOpen ? '▾' : '▸') : ''}
              </span>
              <span class="swatch" style={{ background: css(colourOf(node.name, node.paradigm, node.role)) }} />
              <span style={hits?.has(node.node) ? { fontWeight: 600 } : {}}>{node.name}</span>
            </div>
          </div>
        );
      }}
    />
  );
}
