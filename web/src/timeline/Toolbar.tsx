// What the timeline shows: depth, colours, order of rows, what is drawn over them.
import { isHeat, kColourBy } from '../data/colours';
import { heldBy, kAnywhere, type Row, type TimelineData } from '../data/timeline';
import { isLive } from '../state/ask';
import { changeExtra, rangesOf } from '../state/state';
import { PictureButtons } from '../widgets/SaveButtons';
import type { Area } from './frame';
import { kInnermost, type Settings } from './settings';

interface Props {
  data: TimelineData;
  channel: number;
  settings: Settings;
  rows: Row[];
  regions: [number, string][];
  deepest: number;
  counters: { id: number; name: string }[];
  pair: [number, number] | null;
  dropPair: () => void;
  traces: [string, number][]; // others that may stand below
  below: number | undefined;
  area: Area | null;
  canvas: HTMLCanvasElement | null;
  pictureName: string[];
  zoomTo: (from: number, to: number) => void;
  span: number;
}

export function Toolbar(p: Props) {
  const { data, settings: s } = p;
  return (
    <div class="bar">
      {data.channels.length > 0 && (
        <select
          aria-label="what"
          value={String(p.channel)}
          onChange={(e) => changeExtra({ ch: e.currentTarget.value, depth: '', fn: '', fp: '' })}
        >
          {heldBy(data, 'channels', -1) && <option value="-1">what it does</option>}
          {data.channels.map(
            (title, i) =>
              heldBy(data, 'channels', i) && (
                <option key={title} value={String(i)}>
                  {title}
                </option>
              ),
          )}
        </select>
      )}
      <select
        aria-label="depth"
        value={String(s.depth)}
        onChange={(e) =>
          changeExtra({ depth: e.currentTarget.value === String(kInnermost) ? '' : e.currentTarget.value })
        }
      >
        <option value={String(kInnermost)}>innermost</option>
        {Array.from({ length: Math.min(p.deepest + 1, 40) }, (_, i) => i)
          .filter((i) => heldBy(data, 'depths', i))
          .map((i) => (
            <option key={i} value={String(i)}>
              depth {i}
            </option>
          ))}
      </select>
      <select
        aria-label="colour by"
        value={s.by}
        onChange={(e) => changeExtra({ by: e.currentTarget.value === 'function' ? '' : e.currentTarget.value })}
      >
        {kColourBy
          .filter(([key]) => isLive() || !isHeat(key))
          .filter(([key]) => key !== 'counter' || p.counters.length > 0)
          .map(([key, title]) => (
            <option key={key} value={key}>
              by {title}
            </option>
          ))}
      </select>
      {s.by === 'counter' && (
        <select
          aria-label="counter of the colours"
          value={String(s.counter)}
          onChange={(e) => changeExtra({ cm: e.currentTarget.value })}
        >
          {p.counters.map((c) => (
            <option key={c.id} value={String(c.id)}>
              {c.name}
            </option>
          ))}
        </select>
      )}
      <select
        aria-label="order of rows"
        value={s.order}
        onChange={(e) => changeExtra({ ord: e.currentTarget.value === 'system' ? '' : e.currentTarget.value, col: '' })}
      >
        <option value="system">rows in order</option>
        <option value="name">by name</option>
        <option value="start">by start</option>
        <option value="similar">alike together</option>
        {p.regions.slice(0, 200).map(([id, name]) => (
          <option key={id} value={`time:${name}`}>
            by time in {name.length > 24 ? `${name.slice(0, 23)}…` : name}
          </option>
        ))}
      </select>
      <input
        type="search"
        placeholder="filter rows"
        aria-label="filter rows"
        style={{ flexBasis: '96px', maxWidth: '200px' }}
        value={s.filter}
        onInput={(e) => changeExtra({ q: e.currentTarget.value }, false)}
      />
      <button
        aria-pressed={s.lines}
        onClick={() => changeExtra({ L: s.lines ? '0' : '' })}
        title="messages as lines (L)"
        disabled={p.channel >= 0}
      >
        messages
      </button>
      <button aria-pressed={s.collectives} onClick={() => changeExtra({ cl: s.collectives ? '' : '1' })}>
        collectives
      </button>
      <button aria-pressed={s.waits} onClick={() => changeExtra({ ws: s.waits ? '' : '1' })}>
        waits
      </button>
      {!data.held && p.rows.some((r) => r.group >= 0) && s.order === 'system' && (
        <button
          onClick={() => {
            const all = p.rows.filter((r) => r.group >= 0).map((r) => r.group);
            changeExtra({ col: s.closed.length ? '' : rangesOf(all) });
          }}
          title="groups as one row each (G: one of them)"
        >
          {s.closed.length ? 'Open groups' : 'Close groups'}
        </button>
      )}
      <Chips {...p} />
      {p.traces.length > 0 && (
        <select
          aria-label="a second trace below"
          value={String(p.below ?? '')}
          onChange={(e) => changeExtra({ al: e.currentTarget.value })}
        >
          <option value="">this trace alone</option>
          {p.traces.map(([name, i]) => (
            <option key={i} value={String(i)}>
              below it {name}
            </option>
          ))}
        </select>
      )}
      <span class="end">
        {p.area && <button onClick={() => p.area && p.zoomTo(p.area.from, p.area.to)}>Zoom to selection</button>}
        <button onClick={() => p.zoomTo(0, p.span)} title="0">
          Whole
        </button>
        <PictureButtons canvas={p.canvas} name={p.pictureName} />
      </span>
    </div>
  );
}

// What is left out of the picture, each with a button that brings it back.
function Chips({ settings: s, regions, pair, dropPair }: Props) {
  return (
    <>
      {s.path.length > 0 && (
        <span class="chip" data-path={s.path.join(' › ')} title={s.path.join(' › ')}>
          only {s.path[s.path.length - 1]}
          {s.path[0] === kAnywhere ? '' : ', called this way'}
          <button aria-label="all call paths" onClick={() => changeExtra({ fp: '' })}>
            ✕
          </button>
        </span>
      )}
      {s.focus >= 0 && (
        <span class="chip">
          only {regions.find(([id]) => id === s.focus)?.[1] ?? s.focus}
          <button aria-label="all functions" onClick={() => changeExtra({ fn: '' })}>
            ✕
          </button>
        </span>
      )}
      {pair && (
        <span class="chip">
          messages {pair[0]} → {pair[1]}
          <button aria-label="all messages" onClick={dropPair}>
            ✕
          </button>
        </span>
      )}
    </>
  );
}
