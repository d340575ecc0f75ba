// The timeline: a row per location, a colour per function, as exact at every zoom as the index allows; with it the
// tables and pictures of the part that is selected.
import { useMemo, useState } from 'preact/hooks';
import { isHeat } from '../data/colours';
import { contextOfPath, kAnywhere, missingRows, rowsOf, type Row, type RowTimes } from '../data/timeline';
import type { Session } from '../data/types';
import { ask, isLive, useAsk } from '../state/ask';
import { changeExtra, parseRanges, rangesOf, state } from '../state/state';
import { Aligned } from '../timeline/Aligned';
import { Chart, type Hover, type Spot } from '../timeline/Chart';
import type { Counters } from '../timeline/CountersTab';
import { DepthView, lanesOf } from '../timeline/DepthView';
import { Details, type At, type Call } from '../timeline/Details';
import { Drawer } from '../timeline/Drawer';
import type { Area } from '../timeline/frame';
import { Minimap } from '../timeline/Minimap';
import type { Collectives, Messages, Waits } from '../timeline/overlays';
import { settingsOf } from '../timeline/settings';
import { SidePane } from '../timeline/SidePane';
import { StatusLine } from '../timeline/StatusLine';
import { Toolbar } from '../timeline/Toolbar';
import { useTiles } from '../timeline/useTiles';
import { useTimeline } from '../timeline/useTimeline';
import { useTimelineKeys, type Picked } from '../timeline/useTimelineKeys';
import { useZoom, windowOf } from '../timeline/zoom';
import { Failed } from '../widgets/Failed';

const kTints = ['', 'rgb(11 98 196 / 7%)', 'rgb(196 84 28 / 8%)', 'rgb(45 161 146 / 8%)'];
const kFewestPixels = 64; // of the finest level that a report holds

export function Timeline({ name }: { name: string }) {
  const s = state.value;
  const other = (s.rest['al'] ?? '').split(',').filter(Boolean).map(Number);
  return <TimelineOf key={s.dataset} name={name} dataset={s.dataset} others={other.filter((d) => d !== s.dataset)} />;
}

function TimelineOf({ name, dataset, others }: { name: string; dataset: number; others: number[] }) {
  const s = state.value;
  const rest = s.rest;
  const { data, channel, failure, again, cancel, restart } = useTimeline(dataset, rest['ch']);
  const [under, setUnder] = useState<Hover | null>(null);
  const [message, setMessage] = useState<number[] | null>(null);
  const [pair, setPair] = useState<[number, number] | null>(null);
  const [canvas, setCanvas] = useState<HTMLCanvasElement | null>(null);
  const session = useAsk<Session>('session');
  const settings = useMemo(() => settingsOf(rest), [rest]);
  const { depth, by, area, marks, order } = settings;
  const theme = document.documentElement.dataset['theme'] ?? '';
  const span = Math.max(1, data?.span_ns ?? 1);
  const finest = data?.held ? 2 ** Math.min(...data.held.levels) * kFewestPixels : undefined;
  const zoom = useZoom(span, finest);
  const [from, to] = windowOf(s, span);
  const building = data?.state === 'building' ? data.rows_ready : undefined;

  const ranks = Number(session.data?.datasets[dataset]?.info.find(([key]) => key === 'ranks')?.[1] ?? NaN);
  const timed = order.startsWith('time:') || order === 'similar';
  const times = useAsk<RowTimes>(data && timed ? `${dataset}/row_times` : null, { channel, v: data?.version });
  const rows: Row[] = useMemo(() => {
    if (!data) return [];
    const held = data.held && new Set(data.held.rows);
    const closed = data.held ? data.held.rows.filter((id) => id.startsWith('g')).map((id) => Number(id.slice(1))) : [];
    const chosen = s.locations ? new Set(parseRanges(s.locations)) : null;
    return rowsOf(data, {
      closed: new Set(data.held ? closed : settings.closed),
      filter: settings.filter,
      order,
      pinned: settings.pinned,
      times: times.data,
    })
      .filter((row) => !held || held.has(row.id) || (row.group >= 0 && row.open))
      .filter((row) => !chosen || row.members.some((m) => chosen.has(m)))
      .concat(chosen || settings.filter ? [] : missingRows(data, ranks));
  }, [data, rest['col'], rest['q'], order, rest['pin'], times.data, s.locations, ranks]);
  // Of the call tree: one call path, or a function however it is called.
  const named = settings.path[0] === kAnywhere ? (settings.path[1] ?? '') : '';
  const context = useMemo(
    () => (data && settings.path.length && !named ? contextOfPath(data, settings.path) : -1),
    [data, rest['fp']],
  );
  const namedRegion = named && data ? (data.contexts.region[data.contexts.name.indexOf(named)] ?? -1) : -1;
  const focus = settings.focus >= 0 ? settings.focus : namedRegion;
  const { tiles, palette, turn } = useTiles(
    data,
    { dataset, channel, depth, by, rules: settings.rules, focus, context, theme },
    again,
  );

  // The moment that is picked: "row@ns" by location, so that it survives another order.
  const picked = useMemo((): Picked | null => {
    const [location, ns] = (rest['at'] ?? '').split('@').map(Number);
    if (location === undefined || ns === undefined || !Number.isFinite(ns)) return null;
    return { location, ns, row: rows.findIndex((r) => r.group < 0 && r.members[0] === location) };
  }, [rest['at'], rows]);
  const pick = (location: number, ns: number) => changeExtra({ at: `${location}@${Math.round(ns)}` }, false);
  const found = useAsk<At>(picked && isLive() ? `${dataset}/at` : null, {
    row: picked?.location,
    t: picked ? Math.round(picked.ns) : 0,
    channel,
  });
  const inner: Call | undefined = found.data?.open[found.data.open.length - 1];

  const chosenRows = (a: Area | null): string | undefined => {
    if (!a || a.first > a.last) return s.locations || undefined;
    return rangesOf(rows.slice(a.first, a.last + 1).flatMap((r) => r.members));
  };
  const query = {
    channel,
    t0: area ? Math.round(area.from) : Math.round(from),
    t1: area ? Math.round(area.to) : Math.round(to) >= span ? undefined : Math.round(to),
    rows: chosenRows(area),
    v: building,
  };
  // Everything: as the command line has it without a window. A report knows nothing else.
  const everything = !area && from <= 0 && to >= span;
  const asked = everything || data?.held ? { ...query, t0: undefined, t1: undefined } : query;
  const shown = data?.held ? {} : { t0: Math.max(0, Math.floor(from)), t1: Math.ceil(to) + 1 };

  const messages = useAsk<Messages>(data && settings.lines && channel < 0 ? `${dataset}/messages` : null, {
    ...shown,
    src: pair?.[0],
    dst: pair?.[1],
  });
  const waits = useAsk<Waits>(data && settings.waits ? `${dataset}/waits` : null, shown);
  const collectives = useAsk<Collectives>(data && settings.collectives ? `${dataset}/collectives` : null, shown);
  const counters = useAsk<Counters>(data ? `${dataset}/counters` : null, {}).data?.metrics ?? [];

  const fit = async (spot: Spot) => {
    const row = rows[spot.row];
    if (!row || row.group >= 0 || !row.members.length || !isLive()) return;
    const there = await ask<At>(`${dataset}/at`, { row: row.members[0], t: Math.round(spot.ns), channel });
    const call = there.open[there.open.length - 1];
    if (call?.end_ns === undefined) return;
    const room = Math.max(4, (call.end_ns - call.begin_ns) * 0.1);
    zoom.to(call.begin_ns - room, call.end_ns + room);
  };
  const jump = (location: number, ns: number, length = 0) => {
    const [a, b] = windowOf(state.value, span);
    const width = b - a;
    pick(location, ns + Math.min(length / 2, 1));
    if (length && (length > width || length < width / 50)) zoom.to(ns - length, ns + 2 * length);
    else if (ns < a || ns + length > b) zoom.to(ns - width / 2, ns + width / 2);
  };
  // The next call; of a path that is chosen the next that it leads to.
  const step = async (back: boolean, same: boolean) => {
    const here = picked ?? { location: rows.find((r) => r.group < 0)?.members[0] ?? 0, ns: from };
    const next = await ask<{ t?: number }>(`${dataset}/next`, {
      channel,
      row: here.location,
      // From the beginning of the call on, so that "back" does not find the same one.
      t: back && inner ? inner.begin_ns : Math.round(here.ns),
      back: back ? 1 : undefined,
      region: same && inner ? inner.region : namedRegion >= 0 ? namedRegion : undefined,
      context: context >= 0 ? context : undefined,
    });
    if (next.t !== undefined) jump(here.location, next.t);
  };
  const selectCall = (call: Call) => {
    if (call.end_ns === undefined || !picked) return;
    changeExtra({
      sel: `${call.begin_ns}-${Math.max(call.begin_ns + 1, call.end_ns)}`,
      sr: picked.row >= 0 ? `${picked.row}-${picked.row}` : '',
    });
  };
  const toggle = (row: Row) => {
    if (data?.held) return;
    const closed = new Set(settings.closed);
    if (!closed.delete(row.group)) closed.add(row.group);
    changeExtra({ col: rangesOf([...closed]) });
  };
  const toggleAround = (row: Row) => {
    const around = row.group >= 0 ? row : rows.find((r) => r.group >= 0 && r.members.includes(row.members[0]!));
    if (around) toggle(around);
  };
  useTimelineKeys({
    ...{ zoom, span, from, to, settings, rows, picked, under, inner, pair, pick, selectCall, toggleAround },
    dropPair: () => setPair(null),
    fit: (row, ns) => void fit({ row, ns }),
    step: (back, same) => void (isLive() && step(back, same)),
  });

  const regions = useMemo(() => {
    const all = data?.contexts.region.map((id, i) => [id, data.contexts.name[i] ?? ''] as [number, string]) ?? [];
    return [...new Map(all).entries()].filter(([id]) => id >= 0).sort((a, b) => a[1].localeCompare(b[1]));
  }, [data]);
  if (failure) return <Failed failure={failure} again={again} />;
  if (!data) return <div class="empty">Opening the trace…</div>;
  if (!data.rows.label.length) return <div class="empty">This trace has no locations.</div>;
  const deepest = Math.max(0, ...data.contexts.depth);
  const rowName = (location: number) => data.rows.name[location] || data.rows.label[location] || String(location);
  const traces = (session.data?.datasets ?? [])
    .map((d, i): [string, number, boolean] => [d.name, i, !d.views.timeline])
    .filter(([, i, has]) => has && i !== dataset)
    .map(([title, i]): [string, number] => [title, i]);
  const part = data.held || everything ? 'Whole trace' : area ? 'Selection' : 'Shown window';
  const some = query.rows && !data.held ? ` of ${query.rows.length > 20 ? 'some rows' : `rows ${query.rows}`}` : '';
  const remark =
    (settings.path.length && context < 0 && focus < 0
      ? `not in this trace: ${settings.path.join(' › ')}`
      : undefined) ??
    waits.failure?.message ??
    collectives.failure?.message ??
    (settings.waits ? waits.data?.why : undefined) ??
    (settings.collectives ? collectives.data?.why : undefined);
  const metric = counters.find((c) => c.id === settings.counter) ?? counters[0];
  const chart = {
    ...{ data, rows, tiles: tiles!, from, to, span, turn, theme, palette, marks, zoomTo: zoom.to, toggle },
    picked: picked && picked.row >= 0 ? { row: picked.row, ns: picked.ns } : null,
    messages: settings.lines && channel < 0 ? messages.data : null,
    collectives: settings.collectives ? collectives.data : null,
    waits: settings.waits ? waits.data : null,
    labels: by !== 'calls' && !isHeat(by),
    heat: isHeat(by) ? { dataset, channel, what: by, metric: metric?.id ?? -1, version: building } : null,
  };
  return (
    <div class="split" style={{ gridTemplateColumns: settings.details ? 'minmax(0, 1fr) 300px' : 'minmax(0, 1fr)' }}>
      <div class="pane">
        <Toolbar
          {...{ data, channel, rows, regions, deepest, counters, pair, traces, area, canvas, span }}
          settings={{ ...settings, counter: metric?.id ?? -1 }}
          dropPair={() => setPair(null)}
          below={others[0]}
          pictureName={[name, 'timeline', rest['w'] ?? '']}
          zoomTo={zoom.to}
        />
        {remark && <div class="detail quiet">{remark}</div>}
        <Minimap
          {...{ dataset, channel, span, from, to, theme }}
          version={building ?? -1}
          rough={data.state === 'building' || data.transitions > 5e6}
          zoomTo={zoom.to}
        />
        {tiles && rows.length > 0 ? (
          <Chart
            {...chart}
            area={area}
            pick={(spot, line) => {
              setMessage(line);
              const row = spot && rows[spot.row];
              if (spot && row && row.group < 0 && row.members.length) pick(row.members[0]!, spot.ns);
            }}
            select={(a) => {
              if (!a) return rest['sel'] ? changeExtra({ sel: '', sr: '' }) : undefined;
              changeExtra({
                sel: `${Math.round(a.from)}-${Math.round(a.to)}`,
                sr: a.first > a.last ? '' : `${a.first}-${a.last}`,
              });
            }}
            fit={(spot) => void fit(spot)}
            hover={setUnder}
            attached={setCanvas}
          />
        ) : (
          <div class="empty stage">No row is called that.</div>
        )}
        {others.map((d, i) => (
          <Aligned
            {...{ from, to, settings, theme }}
            key={d}
            dataset={d}
            tint={kTints[(i + 1) % kTints.length]!}
            zoomTo={zoom.to}
            focusName={regions.find(([id]) => id === focus)?.[1] ?? ''}
            mainAt={picked?.ns ?? null}
            mainDataset={dataset}
          />
        ))}
        {picked && deepest > 0 && settings.drawer && isLive() && (
          <DepthView
            {...{ dataset, channel, data, from, to, theme, palette }}
            zoomTo={zoom.to}
            location={picked.location}
            at={picked.ns}
            pick={(ns) => pick(picked.location, ns)}
            key={lanesOf(data)}
          />
        )}
        <StatusLine {...{ data, rows, under, from, to, cancel, restart }} messages={messages.data} />
        {settings.drawer && (
          <Drawer
            {...{ dataset, span, theme, settings, regions, rowName, jump, pair, setPair }}
            query={asked}
            from={data.held ? 0 : query.t0}
            to={data.held ? span : (query.t1 ?? span)}
            whole={query.t1 === undefined && query.t0 <= 0}
            rows={query.rows}
            what={part + some}
            partly={
              data.state === 'building' || data.state === 'cancelled'
                ? `of ${data.rows_ready} of ${data.rows.label.length} rows, as far as they are read`
                : ''
            }
          />
        )}
      </div>
      {settings.details && (
        <SidePane
          {...{ message, jump, marks, span, rules: settings.rules }}
          messages={messages.data}
          pickedRow={picked?.location ?? 0}
        >
          {!picked ? (
            <div class="empty">Click a place on the timeline.</div>
          ) : !isLive() ? (
            <div class="fact">
              <strong>{rowName(picked.location)}</strong>
              <p class="quiet">
                A report holds the picture and the sums, but no single calls: open the data with fathom view for them.
              </p>
            </div>
          ) : (
            <Details
              {...{ dataset, channel, focus: (id: number) => changeExtra({ fn: String(id) }) }}
              location={picked.location}
              ns={picked.ns}
              pixel={(to - from) / 1000}
              name={rowName(picked.location)}
              window={to - from}
              found={found.data}
              failure={found.failure}
              select={selectCall}
            />
          )}
        </SidePane>
      )}
    </div>
  );
}
