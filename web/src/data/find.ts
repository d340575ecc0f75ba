// Finding a node by what a finding, a model or a comparison says about it.
import type { Tree, TreeNode } from './tree';

// "main->solve->MPI_Send": names may hold the arrow themselves, so that each is taken off the front.
export function nodeByPath(tree: Tree, path: string): TreeNode | undefined {
  const below = (nodes: TreeNode[], rest: string): TreeNode | undefined => {
    for (const node of nodes) {
      if (rest === node.name) return node;
      if (!rest.startsWith(`${node.name}->`)) continue;
      const found = below(node.children, rest.slice(node.name.length + 2));
      if (found) return found;
    }
    return undefined;
  };
  return below(tree.roots, path) ?? nodeByRegion(tree, path.split('->').pop() ?? path);
}

// The one that takes most itself.
export function nodeByRegion(tree: Tree, region: string): TreeNode | undefined {
  let best: TreeNode | undefined;
  for (const node of tree.byNumber.values()) {
    if (node.name !== region) continue;
    if (!best || Math.abs(node.exclusive[0] ?? 0) > Math.abs(best.exclusive[0] ?? 0)) best = node;
  }
  return best;
}

// "path:…", "region:…" or "callers:…", as addresses have it.
export function findNode(tree: Tree, wish: string): TreeNode | undefined {
  const colon = wish.indexOf(':');
  const text = wish.slice(colon + 1);
  if (wish.startsWith('path:')) return nodeByPath(tree, text);
  if (wish.startsWith('callers:')) return tree.roots.find((n) => n.name === text);
  return nodeByRegion(tree, text) ?? nodeByPath(tree, text);
}

export function ancestors(tree: Tree, node: TreeNode): TreeNode[] {
  const out: TreeNode[] = [];
  for (let n = tree.byNumber.get(node.parent); n; n = tree.byNumber.get(n.parent)) out.unshift(n);
  return out;
}

export function pathOf(tree: Tree, node: TreeNode): string {
  return [...ancestors(tree, node), node].map((n) => n.name).join('->');
}

// What hits take together: of one below another only the outer one counts.
export function outermost(tree: Tree, hits: ReadonlySet<number>): TreeNode[] {
  return [...hits]
    .map((n) => tree.byNumber.get(n))
    .filter((n): n is TreeNode => !!n && !ancestors(tree, n).some((above) => hits.has(above.node)));
}
