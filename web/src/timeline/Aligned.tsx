// Another trace below the first: the same zoom, moved against it.
import { useMemo, useState } from 'preact/hooks';
import { readable } from '../data/format';
import { rowsOf } from '../data/timeline';
import { ask } from '../state/ask';
import { changeExtra, state } from '../state/state';
import { Failed } from '../widgets/Failed';
import { Chart, type Spot } from './Chart';
import type { Settings } from './settings';
import { useTiles } from './useTiles';
import { useTimeline } from './useTimeline';

interface Props {
  dataset: number;
  tint: string;
  from: number;
  to: number;
  settings: Settings;
  theme: string;
  zoomTo: (from: number, to: number) => void;
  focusName: string; // of the function that is chosen above
  mainAt: number | null;
  mainDataset: number;
}

export function Aligned(p: Props) {
  const { data, channel, failure, again } = useTimeline(p.dataset, undefined);
  const [spot, setSpot] = useState<Spot | null>(null);
  const { depth, by, rules, filter, focus } = p.settings;
  const key = `off${p.dataset}`;
  const offset = Number(state.value.rest[key] ?? 0);
  const rows = useMemo(
    () => (data ? rowsOf(data, { closed: new Set(), filter, order: 'system', pinned: [] }) : []),
    [data, filter],
  );
  const { tiles, palette, turn } = useTiles(
    data,
    { dataset: p.dataset, channel, depth, by, rules, focus: -1, context: -1, theme: p.theme },
    again,
  );
  const move = (ns: number) => changeExtra({ [key]: String(Math.round(ns)) }, false);
  const alignFirst = async () => {
    if (!data || !p.focusName) return;
    const here = data.contexts.region[data.contexts.name.indexOf(p.focusName)];
    if (here === undefined || here < 0) return;
    const first = async (dataset: number, region: number) =>
      (await ask<{ t?: number }>(`${dataset}/next`, { row: 0, t: 0, region })).t;
    const [a, b] = [await first(p.mainDataset, focus), await first(p.dataset, here)];
    if (a !== undefined && b !== undefined) move(a - b);
  };
  if (failure) return <Failed failure={failure} again={again} />;
  if (!data || !tiles) return <div class="empty stage">Opening the other trace…</div>;
  return (
    <>
      <div class="bar" style={{ borderTop: '1px solid var(--line)' }} data-aligned={p.dataset} data-offset={offset}>
        <span class="quiet">
          second trace, {readable(data.span_ns / 1e9, 's')}, moved by {readable(offset / 1e9, 's')}; Alt+Shift+drag
          moves it
        </span>
        <span class="spacer" />
        <button onClick={() => move(0)}>Same start</button>
        <button
          disabled={spot === null || p.mainAt === null}
          onClick={() => spot && p.mainAt !== null && move(p.mainAt - spot.ns)}
        >
          Align picked moments
        </button>
        <button disabled={!p.focusName} onClick={() => void alignFirst()} title="of the function that is chosen">
          Align first calls
        </button>
      </div>
      <Chart
        {...{ data, rows, tiles, turn, palette, theme: p.theme }}
        from={p.from - offset}
        to={p.to - offset}
        span={data.span_ns}
        tint={p.tint}
        marks={[]}
        picked={spot}
        area={null}
        messages={null}
        collectives={null}
        waits={null}
        heat={null}
        labels={by !== 'calls'}
        zoomTo={(a, b) => p.zoomTo(a + offset, b + offset)}
        pick={(at) => setSpot(at)}
        select={() => undefined}
        fit={() => undefined}
        toggle={() => undefined}
        hover={() => undefined}
        shift={(ns) => move(Number(state.value.rest[key] ?? 0) + ns)}
      />
    </>
  );
}
