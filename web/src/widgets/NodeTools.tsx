// What can be done with the selected node: show it alone, who calls it, take it out of the tree, copy it.
import { csvOf } from '../data/export';
import { pathOf } from '../data/find';
import type { Tree, TreeNode } from '../data/tree';
import { isLive } from '../state/ask';
import { addToShape, patternFor } from '../state/shape';
import { change, withExtra } from '../state/state';

const copy = (text: string) => void navigator.clipboard?.writeText(text);

export function NodeTools({ tree, node }: { tree: Tree; node: TreeNode | undefined }) {
  if (!node) return <div class="detail quiet">Select a row: what can be done with it stands here.</div>;
  const row = () =>
    csvOf(
      ['path', ...tree.metrics.flatMap((m) => [`${m.name} inclusive`, `${m.name} exclusive`])],
      [[pathOf(tree, node), ...tree.metrics.flatMap((_, k) => [node.inclusive[k] ?? null, node.exclusive[k] ?? null])]],
    );
  const hide = (verb: string) => {
    change({ node: -1, root: -1 }, false);
    addToShape('hide', `${verb} ${patternFor(node.name)}`);
  };
  return (
    <div class="detail tools">
      <strong class="cut" title={node.name} style={{ maxWidth: '220px' }}>
        {node.name}
      </strong>
      <span class="quiet cut" style={{ maxWidth: '160px' }} title={node.place}>
        {node.place}
      </span>
      <span class="spacer" />
      <button onClick={() => change({ root: node.node })} title="Enter">
        Subtree
      </button>
      <button
        onClick={() =>
          change({ tree: 'bottomup', node: -1, root: -1, rest: withExtra({ find: `callers:${node.name}` }) })
        }
      >
        Callers
      </button>
      {isLive() && (
        <select
          aria-label="reshape"
          value=""
          onChange={(e) => {
            const verb = e.currentTarget.value;
            e.currentTarget.value = '';
            hide(verb);
          }}
        >
          <option value="">Reshape…</option>
          <option value="root">focus: only calls of it</option>
          <option value="elide">merge it into its callers</option>
          <option value="fold">hide what it calls</option>
          <option value="prune">hide it and what it calls</option>
        </select>
      )}
      <select
        aria-label="copy"
        value=""
        onChange={(e) => {
          const what = e.currentTarget.value;
          e.currentTarget.value = '';
          copy(what === 'name' ? node.name : what === 'path' ? pathOf(tree, node) : row());
        }}
      >
        <option value="">Copy…</option>
        <option value="name">name</option>
        <option value="path">call path</option>
        <option value="row">row as CSV</option>
      </select>
    </div>
  );
}
