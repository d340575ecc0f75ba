// Two call trees in one: before, after, and what became of each part.
import type { ComparedTree } from './types';

export interface ComparedNode {
  node: number;
  parent: number;
  depth: number;
  name: string;
  paradigm: string;
  role: string;
  childCount: number;
  children: ComparedNode[];
  before: number | null; // null: not there
  after: number | null;
}

export type Normalise = 'none' | 'total' | 'calls';

// `visits`: the same tree of another metric, by which values are divided.
export function comparedTree(
  data: ComparedTree,
  inclusive: boolean,
  normalise: Normalise,
  visits: ComparedTree | null,
): { roots: ComparedNode[]; all: Map<number, ComparedNode>; before: number; after: number } {
  const all = new Map<number, ComparedNode>();
  const roots: ComparedNode[] = [];
  const scale = normalise === 'total' && data.before_total ? data.after_total / data.before_total : 1;
  const calls = new Map(visits?.node.map((n, i) => [n, i]) ?? []);
  const per = (value: number | null, node: number, side: 'before_exclusive' | 'after_exclusive'): number | null => {
    if (value === null || normalise !== 'calls' || !visits) return value;
    const count = visits[side][calls.get(node) ?? -1] ?? 0;
    return count ? value / count : value;
  };
  data.node.forEach((node, i) => {
    const above = all.get(data.parent[i] ?? -1);
    const first = (inclusive ? data.before_inclusive : data.before_exclusive)[i] ?? null;
    const second = (inclusive ? data.after_inclusive : data.after_exclusive)[i] ?? null;
    const made: ComparedNode = {
      node,
      parent: data.parent[i] ?? -1,
      depth: above ? above.depth + 1 : 0,
      name: data.name[i] ?? '',
      paradigm: data.paradigm[i] ?? '',
      role: data.role[i] ?? '',
      childCount: data.children[i] ?? 0,
      children: [],
      before: first === null ? null : (per(first, node, 'before_exclusive') ?? 0) * scale,
      after: per(second, node, 'after_exclusive'),
    };
    all.set(node, made);
    (above ? above.children : roots).push(made);
  });
  return { roots, all, before: data.before_total * scale, after: data.after_total };
}

export function changeOf(node: { before: number | null; after: number | null }): number {
  return (node.after ?? 0) - (node.before ?? 0);
}

// Of what was; something that came from nothing grew without bounds.
export function relativeOf(before: number, after: number): number {
  if (before === after) return 0;
  return before === 0 ? (after > 0 ? Infinity : -Infinity) : (after - before) / Math.abs(before);
}

export function relativeText(relative: number): string {
  if (relative === Infinity) return 'new';
  if (Number.isNaN(relative)) return '–';
  return `${relative > 0 ? '+' : ''}${(relative * 100).toFixed(1)}%`;
}
