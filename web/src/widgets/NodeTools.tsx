// What can be done with the selected node: show it alone, who calls it, take it out of the tree, copy it.
import { csvOf } from '../data/export';
import { ancestors, pathOf } from '../data/find';
import { kAnywhere } from '../data/timeline';
import type { Tree, TreeNode } from '../data/tree';
import type { Session } from '../data/types';
import { isLive, useAsk } from '../state/ask';
import { addToShape, patternFor } from '../state/shape';
import { change, state, withExtra } from '../state/state';
import { whyNot } from '../state/views';

const copy = (text: string) => void navigator.clipboard?.writeText(text);

// The call path of a node as the timeline wants it: from the outermost in. Rows of other views are functions.
function timelinePath(tree: Tree, node: TreeNode): string[] {
  const names = [...ancestors(tree, node), node].map((n) => n.name);
  return state.value.tree === 'topdown' ? names : [kAnywhere, node.name];
}

export function NodeTools({ tree, node }: { tree: Tree; node: TreeNode | undefined }) {
  const dataset = useAsk<Session>('session').data?.datasets[state.value.dataset];
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
      {dataset && !whyNot(dataset, 'timeline') && state.value.tree !== 'modules' && (
        <button
          title="when and where it is called"
          onClick={() =>
            change({ view: 'timeline', rest: withExtra({ fp: timelinePath(tree, node).join('\n'), fn: '' }) })
          }
        >
          On the timeline
        </button>
      )}
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
          <option value="collapse">collapse its recursion</option>
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
