// Where the boxes of a flame graph lie: width = inclusive ÷ total, children below their parent, left to right by weight.
import type { TreeNode } from '../data/tree';

export interface Box {
  node: TreeNode;
  x: number; // share of the whole
  width: number;
  depth: number;
}

export function layout(start: TreeNode[], byName: boolean, least: number): Box[] {
  const total = start.reduce((sum, n) => sum + Math.abs(n.inclusive[0] ?? 0), 0);
  if (!(total > 0)) return [];
  const out: Box[] = [];
  const order = byName
    ? (a: TreeNode, b: TreeNode) => (a.name < b.name ? -1 : 1)
    : (a: TreeNode, b: TreeNode) => Math.abs(b.inclusive[0] ?? 0) - Math.abs(a.inclusive[0] ?? 0);
  const place = (nodes: TreeNode[], x: number, depth: number) => {
    for (const node of [...nodes].sort(order)) {
      const width = Math.abs(node.inclusive[0] ?? 0) / total;
      if (width >= least) {
        out.push({ node, x, width, depth });
        place(node.children, x, depth + 1);
      }
      x += width;
    }
  };
  place(start, 0, 0);
  return out;
}
