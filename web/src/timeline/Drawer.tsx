// Below the picture: tables and pictures of the part that is selected, a tab each.
import type { Query } from '../data/source';
import { isLive } from '../state/ask';
import { change, changeExtra, state } from '../state/state';
import { CountersTab } from './CountersTab';
import { DurationsTab } from './DurationsTab';
import { MessagesTab, WaitsTab } from './ListTabs';
import { MatrixTab } from './MatrixTab';
import { SelectionTab } from './SelectionTab';
import type { Settings } from './settings';
import { SharesTab } from './SharesTab';

const kTabs: [string, string][] = [
  ['selection', 'Selection'],
  ['shares', 'Over time'],
  ['durations', 'Durations'],
  ['messages', 'Messages'],
  ['matrix', 'Matrix'],
  ['counters', 'Counters'],
  ['waits', 'Waits'],
];

interface Props {
  dataset: number;
  query: Query; // as the command line has it: without a window where all is meant
  from: number;
  to: number;
  whole: boolean;
  rows: string | undefined; // the locations that are chosen
  what: string; // in words
  partly: string; // how much of it is there while the index is made; empty: all
  span: number;
  theme: string;
  settings: Settings;
  regions: [number, string][];
  rowName: (location: number) => string;
  jump: (location: number, ns: number, length?: number) => void;
  pair: [number, number] | null;
  setPair: (pair: [number, number] | null) => void;
}

export function Drawer(p: Props) {
  const { tab } = p.settings;
  return (
    <div class="drawer">
      <div class="tabs small" role="tablist" aria-label="of the selection">
        {kTabs.map(([key, title]) => (
          <button
            key={key}
            role="tab"
            aria-selected={tab === key}
            onClick={() => changeExtra({ tab: key === 'selection' ? '' : key }, false)}
          >
            {title}
          </button>
        ))}
        <span class="spacer" />
        <button onClick={() => changeExtra({ Q: '0' }, false)} title="hide (Q)" aria-label="hide the drawer">
          ✕
        </button>
      </div>
      <div class="pane drawn">
        <Tab {...p} />
      </div>
    </div>
  );
}

function Tab(p: Props) {
  const { dataset, query, from, to, span, theme, rowName, jump } = p;
  const { tab, focus, depth, counter } = p.settings;
  const focusOn = (id: number) => changeExtra({ fn: id < 0 || id === focus ? '' : String(id) });
  switch (tab) {
    case 'shares':
      return (
        <SharesTab
          {...{ dataset, from, to, theme }}
          query={{ ...query, depth }}
          focus={(id) => changeExtra({ fn: String(id) })}
        />
      );
    case 'durations':
      return (
        <DurationsTab
          {...{ dataset, query, rowName, jump, theme, span }}
          region={focus}
          regions={p.regions}
          focus={(id) => changeExtra({ fn: id < 0 ? '' : String(id) })}
        />
      );
    case 'messages':
      return <MessagesTab {...{ dataset, query, rowName, jump, span }} pair={p.pair} all={() => p.setPair(null)} />;
    case 'matrix':
      return (
        <MatrixTab
          dataset={dataset}
          query={{ t0: query['t0'], t1: query['t1'] }}
          theme={theme}
          show={(src, dst) => {
            p.setPair([src, dst]);
            changeExtra({ L: '', tab: 'messages' });
          }}
        />
      );
    case 'counters':
      return (
        <CountersTab
          {...{ dataset, query, from, to, theme, rowName }}
          metric={counter}
          choose={(id) => changeExtra({ cm: String(id) })}
        />
      );
    case 'waits':
      return <WaitsTab {...{ dataset, query, rowName, jump, span }} />;
    default:
      return (
        <SelectionTab
          {...{ dataset, query }}
          what={p.what}
          partly={p.partly}
          focused={focus}
          focus={focusOn}
          canProfile={isLive()}
          profile={() =>
            change({
              view: 'profile',
              node: -1,
              root: -1,
              locations: p.rows ?? '',
              rest: { ...state.value.rest, pw: p.whole ? '' : `${from}-${query['t1'] ?? span + 1}` },
            })
          }
        />
      );
  }
}
