// The part of a call tree that the page has, and what is open in it.
import { toNumber } from './format';
import type { Nodes } from './types';

export interface TreeNode {
  node: number;
  parent: number;
  depth: number;
  name: string;
  context: string | null;
  paradigm: string;
  role: string;
  place: string;
  childCount: number; // in the data; not all of them need be here
  children: TreeNode[];
  inclusive: number[]; // per metric
  exclusive: number[];
}

export interface Tree {
  roots: TreeNode[];
  byNumber: Map<number, TreeNode>;
  metrics: { name: string; unit: string; total: number }[];
  all: number;
}

export function makeTree(nodes: Nodes): Tree {
  const byNumber = new Map<number, TreeNode>();
  const roots: TreeNode[] = [];
  nodes.node.forEach((number, i) => {
    const above = byNumber.get(nodes.parent[i] ?? -1);
    const made: TreeNode = {
      node: number,
      parent: nodes.parent[i] ?? -1,
      depth: above ? above.depth + 1 : 0,
      name: nodes.name[i] ?? '',
      context: nodes.context[i] ?? null,
      paradigm: nodes.paradigm[i] ?? '',
      role: nodes.role[i] ?? '',
      place: nodes.place[i] ?? '',
      childCount: nodes.children[i] ?? 0,
      children: [],
      inclusive: nodes.metrics.map((m) => toNumber(m.inclusive[i] ?? null)),
      exclusive: nodes.metrics.map((m) => toNumber(m.exclusive[i] ?? null)),
    };
    byNumber.set(number, made);
    if (above) above.children.push(made);
    else roots.push(made);
  });
  const metrics = nodes.metrics.map(({ name, unit, total }) => ({ name, unit, total }));
  return { roots, byNumber, metrics, all: nodes.all };
}

export type Order = (a: TreeNode, b: TreeNode) => number;

// "i0-": inclusive of metric 0, falling; "e1+": exclusive of metric 1, rising; "name+".
export function orderBy(sort: string): Order {
  const sign = sort.endsWith('+') ? 1 : -1;
  if (sort.startsWith('name')) return (a, b) => sign * (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  const metric = Number(sort.slice(1, -1));
  const value = (n: TreeNode) => (sort[0] === 'e' ? n.exclusive[metric] : n.inclusive[metric]) ?? 0;
  return (a, b) => sign * (Math.abs(value(a)) - Math.abs(value(b)));
}

// Rows from top to bottom: what is open, in order; of a filter only what it keeps.
export function visibleRows(
  start: TreeNode[],
  open: ReadonlySet<number>,
  order: Order,
  keep: ((node: TreeNode) => boolean) | null = null,
): TreeNode[] {
  const out: TreeNode[] = [];
  const stack = [...start].sort(order).reverse();
  while (stack.length) {
    const node = stack.pop()!;
    if (keep && !keep(node)) continue;
    out.push(node);
    if (open.has(node.node)) stack.push(...[...node.children].sort(order).reverse());
  }
  return out;
}

// From a node down: the child with the largest inclusive value while it has at least `share` of its parent's.
export function hotPath(start: TreeNode[], share = 0.5): TreeNode[] {
  const path: TreeNode[] = [];
  let next = start;
  while (next.length) {
    const best = next.reduce((a, b) => ((b.inclusive[0] ?? 0) > (a.inclusive[0] ?? 0) ? b : a));
    const value = best.inclusive[0] ?? 0;
    const above = path[path.length - 1];
    if (above && !(value >= share * (above.inclusive[0] ?? 0) && value > 0)) break;
    path.push(best);
    next = best.children;
  }
  return path;
}

// "/regex/" or a part of the name, whatever the case.
export function matcher(text: string): ((name: string) => boolean) | null {
  if (!text) return null;
  const regex = /^\/(.+)\/$/.exec(text);
  if (regex) {
    try {
      const pattern = new RegExp(regex[1] ?? '', 'i');
      return (name) => pattern.test(name);
    } catch {
      return null;
    }
  }
  const low = text.toLowerCase();
  return (name) => name.toLowerCase().includes(low);
}
