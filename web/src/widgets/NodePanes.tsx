// What belongs to the selected node: its spread over locations, the same on a topology or the system, its source.
import type { TreeNode } from '../data/tree';
import { changeExtra, extra } from '../state/state';
import { Distribution } from './Distribution';
import { SourcePane } from './SourcePane';
import { SystemMap } from './SystemMap';

const kPanes: [string, string][] = [
  ['', 'Over locations'],
  ['system', 'System'],
  ['topology', 'Topology'],
  ['source', 'Source'],
];

export function NodePanes({ metric, node, name }: { metric: string; node: TreeNode | undefined; name: string }) {
  const pane = extra('pane');
  const title = node ? node.name : 'whole program';
  const context = node ? node.node : -1;
  return (
    <div class="pane below">
      <div class="tabs small" role="tablist" aria-label="of the selected node">
        {kPanes.map(([key, label]) => (
          <button key={key} role="tab" aria-selected={pane === key} onClick={() => changeExtra({ pane: key }, false)}>
            {label}
          </button>
        ))}
        <span class="spacer" />
        <span class="cut quiet" style={{ maxWidth: '45%', alignSelf: 'center', paddingRight: '8px' }} title={title}>
          {title}
        </span>
      </div>
      {pane === 'source' ? (
        <SourcePane metric={metric} place={node?.place ?? ''} />
      ) : pane === 'system' || pane === 'topology' ? (
        <SystemMap metric={metric} context={context} topology={pane === 'topology'} name={[name, title, pane]} />
      ) : (
        <Distribution metric={metric} context={context} name={[name, title, 'distribution']} />
      )}
    </div>
  );
}
