// The call tree as a table: metric columns with bars, every level sortable.
import { useState } from 'preact/hooks';
import type { TreeNode, Tree } from '../data/tree';
import { percent, readable } from '../data/format';
import { change, changeExtra, extra, state, type State } from '../state/state';
import { colourOf, css } from '../theme/palette';
import { VirtualRows } from './VirtualRows';

interface Props {
  tree: Tree;
  rows: TreeNode[];
  open: ReadonlySet<number>;
  toggle: (node: TreeNode) => void;
  hits: ReadonlySet<number> | null;
  onKey: (event: KeyboardEvent) => void;
  columns: string[];
  setColumns: (columns: string[]) => void;
}

const kWidth = 132;
const kNarrowest = 64;

// Widths of the columns, as far as they were changed.
function widthsOf(count: number): number[] {
  const given = extra('cw').split(',').map(Number);
  return Array.from({ length: count }, (_, i) => (given[i] && given[i] >= kNarrowest ? given[i] : kWidth));
}

// The handle between two headers.
function Grip({ width, set }: { width: number; set: (width: number) => void }) {
  return (
    <span
      class="grip"
      title="drag: width"
      onClick={(e) => e.stopPropagation()}
      onPointerDown={(e) => {
        e.preventDefault();
        e.stopPropagation();
        const from = e.clientX;
        const move = (m: PointerEvent) => set(Math.max(kNarrowest, Math.round(width + m.clientX - from)));
        const up = () => {
          removeEventListener('pointermove', move);
          removeEventListener('pointerup', up);
        };
        addEventListener('pointermove', move);
        addEventListener('pointerup', up);
      }}
    />
  );
}

// Which of the two values a row shows, by the choice above the table; Cube's way: closed = inclusive, open = exclusive.
export function shownValue(node: TreeNode, metric: number, mode: State['values'], open: boolean): number {
  const inclusive = mode === 'inclusive' || (mode === 'cube' && !open);
  return (inclusive ? node.inclusive[metric] : node.exclusive[metric]) ?? NaN;
}

export function TreeTable({ tree, rows, open, toggle, hits, onKey, columns, setColumns }: Props) {
  const s = state.value;
  const widths = widthsOf(tree.metrics.length);
  const [dragged, setDragged] = useState(-1);
  const moveTo = (to: number) => {
    const name = columns[dragged];
    setDragged(-1);
    if (name === undefined || to === dragged) return;
    const next = columns.filter((c) => c !== name);
    next.splice(to, 0, name);
    setColumns(next);
  };
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
          key={m.name}
          role="columnheader"
          class="cut"
          style={{ width: `${widths[i]}px`, textAlign: 'right' }}
          title={`${m.name}, ${readable(m.total, m.unit)} in total; drag it to another place`}
          aria-sort={
            s.sort.slice(0, -1) === `${letter}${i}` ? (s.sort.endsWith('-') ? 'descending' : 'ascending') : 'none'
          }
          draggable
          onDragStart={() => setDragged(i)}
          onDragOver={(e) => e.preventDefault()}
          onDrop={() => moveTo(i)}
          onClick={() => sortBy(`${letter}${i}`)}
        >
          {m.name}
          {arrow(`${letter}${i}`)}
          <Grip
            width={widths[i] ?? kWidth}
            set={(w) => changeExtra({ cw: widths.map((v, k) => (k === i ? w : v)).join(',') }, false)}
          />
        </div>
      ))}
      <div role="columnheader" style={{ flex: '1 1 auto' }} onClick={() => sortBy('name')}>
        {s.tree === 'topdown'
          ? 'call tree'
          : s.tree === 'bottomup'
            ? 'region ← callers'
            : s.tree === 'modules'
              ? 'modules, files, functions'
              : 'region'}
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
                  key={m.name}
                  class="value number"
                  role="gridcell"
                  style={{ width: `${widths[k]}px` }}
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
