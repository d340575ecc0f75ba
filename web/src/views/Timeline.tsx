// The timeline: a row per location, a colour per function, as exact at every zoom as the index allows; with it the
// tables and pictures of the part that is selected.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { readable, timeText } from '../data/format';
import {
  kColourBy,
  marksOf,
  marksText,
  paletteOf,
  rangeOf,
  rgbOf,
  rowsOf,
  rulesOf,
  type ColourBy,
  type Row,
  type RowTimes,
  type TimelineData,
} from '../data/timeline';
import type { Session } from '../data/types';
import { Tiles } from '../draw/tiles';
import { ask, binary, isLive, useAsk } from '../state/ask';
import { change, parseRanges, rangesOf, state, type State } from '../state/state';
import { Chart, type Area, type Hover, type Spot } from '../timeline/Chart';
import { CountersTab } from '../timeline/CountersTab';
import { DepthView, lanesOf } from '../timeline/DepthView';
import { Details, type At, type Call } from '../timeline/Details';
import { DurationsTab } from '../timeline/DurationsTab';
import { MessagesTab, WaitsTab } from '../timeline/ListTabs';
import { MatrixTab } from '../timeline/MatrixTab';
import { Minimap } from '../timeline/Minimap';
import { messageText, type Collectives, type Messages, type Waits } from '../timeline/overlays';
import { SelectionTab } from '../timeline/SelectionTab';
import { SharesTab } from '../timeline/SharesTab';
import { useTimeline } from '../timeline/useTimeline';
import { Failed } from '../widgets/Failed';
import { themeColour } from '../widgets/useCanvas';

type Rest = Record<string, string>;
const kTabs: [string, string][] = [
  ['selection', 'Selection'],
  ['shares', 'Over time'],
  ['durations', 'Durations'],
  ['messages', 'Messages'],
  ['matrix', 'Matrix'],
  ['counters', 'Counters'],
  ['waits', 'Waits'],
];
const kTints = ['', 'rgb(11 98 196 / 7%)', 'rgb(196 84 28 / 8%)', 'rgb(45 161 146 / 8%)'];

function windowOf(of: State, span: number): [number, number] {
  return rangeOf(of.rest['w']) ?? [0, span];
}
// Without what is empty, so that addresses stay short.
function setRest(part: Rest, remember = true): void {
  const rest: Rest = { ...state.value.rest, ...part };
  for (const [key, value] of Object.entries(rest)) if (value === '') delete rest[key];
  change({ rest }, remember);
}

let undone: string[] = [];

export function Timeline() {
  const s = state.value;
  const other = (s.rest['al'] ?? '').split(',').filter(Boolean).map(Number);
  return <TimelineOf key={s.dataset} dataset={s.dataset} others={other.filter((d) => d !== s.dataset)} />;
}

function TimelineOf({ dataset, others }: { dataset: number; others: number[] }) {
  const s = state.value;
  const rest = s.rest;
  const { data, channel, failure, again, cancel, restart } = useTimeline(dataset, rest['ch']);
  const [turn, setTurn] = useState(0);
  const [under, setUnder] = useState<Hover | null>(null);
  const [message, setMessage] = useState<number[] | null>(null);
  const [pair, setPair] = useState<[number, number] | null>(null);
  const pushed = useRef(0);

  const session = useAsk<Session>('session');
  const traces = (session.data?.datasets ?? [])
    .map((d, i): [string, number, boolean] => [d.name, i, !d.views.timeline])
    .filter(([, , has]) => has);
  const span = Math.max(1, data?.span_ns ?? 1);
  const [from, to] = windowOf(s, span);
  const depth = Number(rest['depth'] ?? 255);
  const by = (rest['by'] ?? 'function') as ColourBy;
  const focus = Number(rest['fn'] ?? -1);
  const lines = rest['L'] !== '0';
  const showWaits = rest['ws'] === '1';
  const showCollectives = rest['cl'] === '1';
  const tab = rest['tab'] ?? 'selection';
  const drawer = rest['Q'] !== '0';
  const details = rest['I'] !== '0';
  const marks = useMemo(() => marksOf(rest['marks']), [rest['marks']]);
  const pinned = useMemo(() => parseRanges(rest['pin'] ?? ''), [rest['pin']]);
  const theme = document.documentElement.dataset['theme'] ?? '';

  // Zooms replace the address while moving and push one entry when they rest, so that "back" undoes them.
  const zoomTo = (a: number, b: number) => {
    const width = Math.min(span, Math.max(8, b - a));
    const start = Math.min(Math.max(0, a), span - width);
    const now = performance.now();
    undone = [];
    setRest({ w: `${Math.round(start)}-${Math.round(start + width)}` }, now - pushed.current > 400);
    pushed.current = now;
  };

  const area: Area | null = useMemo(() => {
    const range = rangeOf(rest['sel']);
    if (!range) return null;
    const [first, last] = (rest['sr'] ?? '1-0').split('-').map(Number);
    return { from: range[0], to: range[1], first: first ?? 1, last: last ?? 0 };
  }, [rest['sel'], rest['sr']]);

  const order = rest['ord'] ?? 'system';
  const times = useAsk<RowTimes>(
    data && (order.startsWith('time:') || order === 'similar') ? `${dataset}/row_times` : null,
    { channel, v: data?.version },
  );
  const rows: Row[] = useMemo(
    () =>
      data
        ? rowsOf(data, {
            closed: new Set(parseRanges(rest['col'] ?? '')),
            filter: rest['q'] ?? '',
            order,
            pinned,
            times: times.data,
          }).filter((row) => !s.locations || row.members.some((m) => parseRanges(s.locations).includes(m)))
        : [],
    [data, rest['col'], rest['q'], order, pinned, times.data, s.locations],
  );
  const palette = useMemo(
    () => (data ? paletteOf(data, by, rulesOf(rest['rules'] ?? '')) : () => [0, 0, 0]),
    [data, by, rest['rules']],
  );
  const last = useRef<Tiles | null>(null);
  const tiles = useMemo(
    () =>
      (last.current = data
        ? new Tiles(
            ({ rows: names, r, k, i }) =>
              binary(`${dataset}/tile`, {
                r: names ? undefined : r,
                rows: names || undefined,
                k,
                i,
                depth,
                channel,
                focus: focus >= 0 ? focus : undefined,
                v: data.state === 'building' ? data.rows_ready : undefined,
              }),
            palette,
            rgbOf(themeColour('stripe')),
            by === 'calls',
            (tile) => {
              setTurn((t) => t + 1);
              if (tile.names.some((n) => n >= data.contexts.name.length)) again();
            },
            last.current,
          )
        : null),
    [data, channel, dataset, theme, depth, focus, palette],
  );

  // The moment that is picked: "row@ns" by location, so that it survives another order.
  const picked = useMemo(() => {
    const [location, ns] = (rest['at'] ?? '').split('@').map(Number);
    if (location === undefined || ns === undefined || !Number.isFinite(ns)) return null;
    const row = rows.findIndex((r) => r.group < 0 && r.members[0] === location);
    return { location, ns, row };
  }, [rest['at'], rows]);
  const pick = (location: number, ns: number) => setRest({ at: `${location}@${Math.round(ns)}` }, false);
  const found = useAsk<At>(picked ? `${dataset}/at` : null, {
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
    v: data?.state === 'building' ? data.rows_ready : undefined,
  };
  // Everything: as the command line has it without a window.
  const asked = !area && from <= 0 && to >= span ? { ...query, t0: undefined } : query;

  const messages = useAsk<Messages>(data && lines && channel < 0 && isLive() ? `${dataset}/messages` : null, {
    t0: Math.max(0, Math.floor(from)),
    t1: Math.ceil(to) + 1,
    src: pair?.[0],
    dst: pair?.[1],
  });
  const waits = useAsk<Waits>(data && showWaits ? `${dataset}/waits` : null, {
    t0: Math.max(0, Math.floor(from)),
    t1: Math.ceil(to) + 1,
  });
  const collectives = useAsk<Collectives>(data && showCollectives ? `${dataset}/collectives` : null, {
    t0: Math.max(0, Math.floor(from)),
    t1: Math.ceil(to) + 1,
  });

  const fit = async (spot: Spot) => {
    const row = rows[spot.row];
    if (!row || row.group >= 0) return;
    const there = await ask<At>(`${dataset}/at`, { row: row.members[0], t: Math.round(spot.ns), channel });
    const call = there.open[there.open.length - 1];
    if (call?.end_ns === undefined) return;
    const room = Math.max(4, (call.end_ns - call.begin_ns) * 0.1);
    zoomTo(call.begin_ns - room, call.end_ns + room);
  };
  const jump = (location: number, ns: number, length = 0) => {
    const [a, b] = windowOf(state.value, span);
    const width = b - a;
    pick(location, ns + Math.min(length / 2, 1));
    if (length && (length > width || length < width / 50)) zoomTo(ns - length, ns + 2 * length);
    else if (ns < a || ns + length > b) zoomTo(ns - width / 2, ns + width / 2);
  };
  const step = async (back: boolean, same: boolean) => {
    const here = picked ?? { location: rows.find((r) => r.group < 0)?.members[0] ?? 0, ns: from };
    const next = await ask<{ t?: number }>(`${dataset}/next`, {
      channel,
      row: here.location,
      // From the beginning of the call on, so that "back" does not find the same one.
      t: back && inner ? inner.begin_ns : Math.round(here.ns),
      back: back ? 1 : undefined,
      region: same && inner ? inner.region : undefined,
    });
    if (next.t !== undefined) jump(here.location, next.t);
  };

  useEffect(() => {
    // From the address, not from what was drawn last: keys may come faster than pictures.
    const pan = (part: number) => {
      const [a, b] = windowOf(state.value, span);
      zoomTo(a + (b - a) * part, b + (b - a) * part);
    };
    const zoom = (factor: number) => {
      const [a, b] = windowOf(state.value, span);
      const at = under && under.ns > a && under.ns < b ? under.ns : area ? (area.from + area.to) / 2 : (a + b) / 2;
      zoomTo(at - (at - a) * factor, at + (b - at) * factor);
    };
    const move = (by: number) => {
      const places = rows.map((r, i) => ({ r, i })).filter(({ r }) => r.group < 0);
      const now = places.findIndex(({ r }) => r.members[0] === picked?.location);
      const next = places[Math.max(0, Math.min(places.length - 1, (now < 0 ? -1 : now) + by))];
      if (next) pick(next.r.members[0]!, picked?.ns ?? (from + to) / 2);
    };
    const keys: Record<string, (shift: boolean) => void> = {
      KeyW: () => zoom(0.5),
      KeyS: () => zoom(2),
      Equal: () => zoom(0.5),
      NumpadAdd: () => zoom(0.5),
      Minus: () => zoom(2),
      NumpadSubtract: () => zoom(2),
      KeyA: (shift) => pan(shift ? -1 : -0.25),
      KeyD: (shift) => pan(shift ? 1 : 0.25),
      ArrowLeft: (shift) => pan(shift ? -1 : -0.25),
      ArrowRight: (shift) => pan(shift ? 1 : 0.25),
      ArrowUp: () => move(-1),
      ArrowDown: () => move(1),
      PageUp: () => move(-20),
      PageDown: () => move(20),
      Digit0: () => zoomTo(0, span),
      Home: () => pan(-1e9),
      End: () => pan(1e9),
      BracketLeft: () => setRest({ depth: depth === 255 ? '8' : String(Math.max(0, depth - 1)) }),
      BracketRight: () => setRest({ depth: depth >= 16 ? '' : String(depth + 1) }),
      Comma: (shift) => void step(true, shift),
      Period: (shift) => void step(false, shift),
      KeyF: () => {
        if (!picked) return;
        const [a, b] = windowOf(state.value, span);
        // First to the middle; there already: as large as it gets.
        if (Math.abs((a + b) / 2 - picked.ns) > (b - a) / 50) zoomTo(picked.ns - (b - a) / 2, picked.ns + (b - a) / 2);
        else if (picked.row >= 0) void fit({ row: picked.row, ns: picked.ns });
      },
      Enter: () => area && zoomTo(area.from, area.to),
      Backspace: () => history.back(),
      KeyZ: (shift) => {
        if (shift) {
          const next = undone.pop();
          if (next) setRest({ w: next });
        } else {
          const [a, b] = windowOf(state.value, span);
          undone.push(`${Math.round(a)}-${Math.round(b)}`);
          history.back();
        }
      },
      KeyR: () => inner?.end_ns !== undefined && selectCall(inner),
      KeyM: (shift) => {
        const at = picked?.ns ?? under?.ns ?? (from + to) / 2;
        const next = shift && area ? { from: area.from, to: area.to, note: '' } : { from: at, to: at, note: '' };
        setRest({ marks: marksText([...marks, next]) });
      },
      KeyP: () => {
        if (!picked) return;
        const now = new Set(pinned);
        if (!now.delete(picked.location)) now.add(picked.location);
        setRest({ pin: rangesOf([...now]) });
      },
      KeyG: () => {
        const row = under ? rows[under.row] : picked && rows[picked.row];
        if (row) toggleAround(row);
      },
      KeyL: () => setRest({ L: lines ? '0' : '' }),
      KeyQ: () => setRest({ Q: drawer ? '0' : '' }, false),
      KeyI: () => setRest({ I: details ? '0' : '' }, false),
      KeyC: (shift) =>
        void navigator.clipboard?.writeText(
          shift
            ? location.href
            : inner
              ? `${inner.name} ${inner.begin_ns} ${inner.end_ns ?? ''} ${inner.detail}`
              : (under?.text ?? ''),
        ),
      Escape: () => {
        if (area) setRest({ sel: '', sr: '' });
        else if (focus >= 0) setRest({ fn: '' });
        else if (pair) setPair(null);
        else if (picked) setRest({ at: '' });
      },
    };
    const listener = (event: KeyboardEvent) => {
      if (
        (event.target as HTMLElement).matches('input, select, textarea') ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey
      )
        return;
      // Tables have their own arrows.
      if ((event.target as HTMLElement).closest('[role=treegrid]') && /^(Arrow|Page|Home|End|Enter)/.test(event.code))
        return;
      const action = keys[event.code];
      if (!action || (event.shiftKey && event.code === 'Slash')) return;
      action(event.shiftKey);
      if (event.code !== 'Escape') event.preventDefault();
    };
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  });

  const selectCall = (call: Call) => {
    if (call.end_ns === undefined || !picked) return;
    setRest({
      sel: `${call.begin_ns}-${Math.max(call.begin_ns + 1, call.end_ns)}`,
      sr: picked.row >= 0 ? `${picked.row}-${picked.row}` : '',
    });
  };
  const toggle = (row: Row) => {
    const closed = new Set(parseRanges(rest['col'] ?? ''));
    if (!closed.delete(row.group)) closed.add(row.group);
    setRest({ col: rangesOf([...closed]) });
  };
  const toggleAround = (row: Row) => {
    if (row.group >= 0) return toggle(row);
    const around = rows.find((r) => r.group >= 0 && r.members.includes(row.members[0]!));
    if (around) toggle(around);
  };

  if (failure) return <Failed failure={failure} again={again} />;
  if (!data) return <div class="empty">Opening the trace…</div>;
  if (!data.rows.label.length) return <div class="empty">This trace has no locations.</div>;
  const deepest = Math.max(0, ...data.contexts.depth);
  const regions = [
    ...new Map(data.contexts.region.map((id, i) => [id, data.contexts.name[i] ?? ''] as [number, string])).entries(),
  ]
    .filter(([id]) => id >= 0)
    .sort((a, b) => a[1].localeCompare(b[1]));
  const rowName = (location: number) => data.rows.name[location] || data.rows.label[location] || String(location);
  const groups = rows.some((r) => r.group >= 0);
  const what = `${area ? 'Selection' : from <= 0 && to >= span ? 'Whole trace' : 'Shown window'}${query.rows ? ` of ${query.rows.length > 20 ? 'some rows' : `rows ${query.rows}`}` : ''}`;
  const common = { dataset, query: asked };
  const overlayText =
    waits.failure?.message ??
    collectives.failure?.message ??
    (showWaits ? waits.data?.why : undefined) ??
    (showCollectives ? collectives.data?.why : undefined);
  return (
    <div class="split" style={{ gridTemplateColumns: details ? 'minmax(0, 1fr) 300px' : 'minmax(0, 1fr)' }}>
      <div class="pane">
        <div class="bar">
          {data.channels.length > 0 && (
            <select
              aria-label="what"
              value={String(channel)}
              onChange={(e) => setRest({ ch: e.currentTarget.value, depth: '', fn: '' })}
            >
              <option value="-1">what it does</option>
              {data.channels.map((title, i) => (
                <option key={title} value={String(i)}>
                  {title}
                </option>
              ))}
            </select>
          )}
          <select
            aria-label="depth"
            value={String(depth)}
            onChange={(e) => setRest({ depth: e.currentTarget.value === '255' ? '' : e.currentTarget.value })}
          >
            <option value="255">innermost</option>
            {Array.from({ length: Math.min(deepest + 1, 40) }, (_, i) => (
              <option key={i} value={String(i)}>
                depth {i}
              </option>
            ))}
          </select>
          <select
            aria-label="colour by"
            value={by}
            onChange={(e) => setRest({ by: e.currentTarget.value === 'function' ? '' : e.currentTarget.value })}
          >
            {kColourBy.map(([key, title]) => (
              <option key={key} value={key}>
                by {title}
              </option>
            ))}
          </select>
          <select
            aria-label="order of rows"
            value={order}
            onChange={(e) => setRest({ ord: e.currentTarget.value === 'system' ? '' : e.currentTarget.value, col: '' })}
          >
            <option value="system">rows in order</option>
            <option value="name">by name</option>
            <option value="start">by start</option>
            <option value="similar">alike together</option>
            {regions.slice(0, 200).map(([id, name]) => (
              <option key={id} value={`time:${name}`}>
                by time in {name.length > 24 ? `${name.slice(0, 23)}…` : name}
              </option>
            ))}
          </select>
          <input
            type="search"
            placeholder="filter rows"
            aria-label="filter rows"
            style={{ width: '116px' }}
            value={rest['q'] ?? ''}
            onInput={(e) => setRest({ q: e.currentTarget.value }, false)}
          />
          <button
            aria-pressed={lines}
            onClick={() => setRest({ L: lines ? '0' : '' })}
            title="messages as lines (L)"
            disabled={channel >= 0}
          >
            messages
          </button>
          <button aria-pressed={showCollectives} onClick={() => setRest({ cl: showCollectives ? '' : '1' })}>
            collectives
          </button>
          <button aria-pressed={showWaits} onClick={() => setRest({ ws: showWaits ? '' : '1' })}>
            waits
          </button>
          {groups && order === 'system' && (
            <button
              onClick={() => {
                const all = rows.filter((r) => r.group >= 0).map((r) => r.group);
                setRest({ col: rest['col'] ? '' : rangesOf(all) });
              }}
              title="groups as one row each (G: one of them)"
            >
              {rest['col'] ? 'Open groups' : 'Close groups'}
            </button>
          )}
          {focus >= 0 && (
            <span class="chip">
              only {regions.find(([id]) => id === focus)?.[1] ?? focus}
              <button aria-label="all functions" onClick={() => setRest({ fn: '' })}>
                ✕
              </button>
            </span>
          )}
          {pair && (
            <span class="chip">
              messages {pair[0]} → {pair[1]}
              <button aria-label="all messages" onClick={() => setPair(null)}>
                ✕
              </button>
            </span>
          )}
          {traces.length > 1 && (
            <select
              aria-label="a second trace below"
              value={String(others[0] ?? '')}
              onChange={(e) => setRest({ al: e.currentTarget.value })}
            >
              <option value="">this trace alone</option>
              {traces
                .filter(([, i]) => i !== dataset)
                .map(([name, i]) => (
                  <option key={i} value={String(i)}>
                    below it {name}
                  </option>
                ))}
            </select>
          )}
          <span class="spacer" />
          {area && <button onClick={() => zoomTo(area.from, area.to)}>Zoom to selection</button>}
          <button onClick={() => zoomTo(0, span)} title="0">
            Whole
          </button>
        </div>
        {overlayText && <div class="detail quiet">{overlayText}</div>}
        <Minimap
          dataset={dataset}
          channel={channel}
          version={data.state === 'building' ? data.rows_ready : -1}
          rough={data.state === 'building' || data.transitions > 5e6}
          span={span}
          from={from}
          to={to}
          theme={theme}
          zoomTo={zoomTo}
        />
        {tiles && rows.length > 0 ? (
          <Chart
            {...{ data, rows, tiles, from, to, span, turn, theme, depth, palette, marks, zoomTo, toggle }}
            picked={picked && picked.row >= 0 ? { row: picked.row, ns: picked.ns } : null}
            area={area}
            messages={lines && channel < 0 ? messages.data : null}
            collectives={showCollectives ? collectives.data : null}
            waits={showWaits ? waits.data : null}
            labels={by !== 'calls'}
            pick={(spot, line) => {
              setMessage(line);
              const row = spot && rows[spot.row];
              if (spot && row && row.group < 0) pick(row.members[0]!, spot.ns);
            }}
            select={(a) => {
              if (!a) return rest['sel'] ? setRest({ sel: '', sr: '' }) : undefined;
              setRest({
                sel: `${Math.round(a.from)}-${Math.round(a.to)}`,
                sr: a.first > a.last ? '' : `${a.first}-${a.last}`,
              });
            }}
            fit={(spot) => void fit(spot)}
            hover={setUnder}
          />
        ) : (
          <div class="empty stage">No row is called that.</div>
        )}
        {others.map((d, i) => (
          <Aligned
            key={d}
            dataset={d}
            tint={kTints[(i + 1) % kTints.length]!}
            from={from}
            to={to}
            by={by}
            rules={rest['rules'] ?? ''}
            theme={theme}
            depth={depth}
            zoomTo={zoomTo}
            focusName={focus >= 0 ? (regions.find(([id]) => id === focus)?.[1] ?? '') : ''}
            mainAt={picked?.ns ?? null}
            mainDataset={dataset}
            mainFocus={focus}
          />
        ))}
        {picked && deepest > 0 && drawer && (
          <DepthView
            {...{ dataset, channel, data, from, to, theme, palette, zoomTo }}
            location={picked.location}
            at={picked.ns}
            pick={(ns) => pick(picked.location, ns)}
            key={lanesOf(data)}
          />
        )}
        <div class="detail" aria-live="polite" data-index={data.state} data-stored={String(data.stored)}>
          {under ? (
            <>
              <strong>{rows[under.row]?.label}</strong> <span class="number">{timeText(under.ns, to - from)}</span>{' '}
              {under.message && messages.data ? messageText(messages.data, under.message) : under.text}
            </>
          ) : (
            <span class="quiet">
              {data.state === 'building' ? (
                <>
                  ≈ reading: {data.rows_ready} of {data.rows.label.length} rows, {data.events_read.toLocaleString('en')}{' '}
                  events, {readable(data.events_read / Math.max(0.1, data.seconds), '')}/s{' '}
                  <button onClick={cancel}>Cancel</button>
                </>
              ) : data.state === 'cancelled' ? (
                <>
                  ≈ reading was cancelled: {data.rows_ready} of {data.rows.label.length} rows are there{' '}
                  <button onClick={restart}>Go on</button>
                </>
              ) : (
                <>
                  {timeText(from, to - from)} – {timeText(to, to - from)} ({readable((to - from) / 1e9, 's')}),{' '}
                  {data.transitions.toLocaleString('en')} changes, exact, index {readable(data.index_bytes, 'bytes')}
                  {data.stored ? ' from its file' : ''}
                  {messages.data?.bundles ? `, ${messages.data.count.toLocaleString('en')} messages in bundles` : ''}
                </>
              )}
            </span>
          )}
        </div>
        {drawer && (
          <div class="drawer">
            <div class="tabs small" role="tablist" aria-label="of the selection">
              {kTabs.map(([key, title]) => (
                <button
                  key={key}
                  role="tab"
                  aria-selected={tab === key}
                  onClick={() => setRest({ tab: key === 'selection' ? '' : key }, false)}
                >
                  {title}
                </button>
              ))}
              <span class="spacer" />
              <button onClick={() => setRest({ Q: '0' }, false)} title="hide (Q)" aria-label="hide the drawer">
                ✕
              </button>
            </div>
            <div class="pane drawn">
              {tab === 'shares' ? (
                <SharesTab
                  {...common}
                  query={{ ...asked, depth }}
                  from={query.t0}
                  to={query.t1 ?? span}
                  theme={theme}
                  focus={(id) => setRest({ fn: String(id) })}
                />
              ) : tab === 'durations' ? (
                <DurationsTab
                  {...common}
                  region={focus}
                  regions={regions}
                  focus={(id) => setRest({ fn: id < 0 ? '' : String(id) })}
                  rowName={rowName}
                  jump={jump}
                  theme={theme}
                  span={span}
                />
              ) : tab === 'messages' ? (
                <MessagesTab
                  {...common}
                  rowName={rowName}
                  jump={jump}
                  span={span}
                  pair={pair}
                  all={() => setPair(null)}
                />
              ) : tab === 'matrix' ? (
                <MatrixTab
                  dataset={dataset}
                  query={{ t0: asked.t0, t1: asked.t1 }}
                  theme={theme}
                  show={(src, dst) => {
                    setPair([src, dst]);
                    setRest({ L: '', tab: 'messages' });
                  }}
                />
              ) : tab === 'counters' ? (
                <CountersTab
                  {...common}
                  from={query.t0}
                  to={query.t1 ?? span}
                  theme={theme}
                  rowName={rowName}
                  metric={Number(rest['cm'] ?? -1)}
                  choose={(id) => setRest({ cm: String(id) })}
                />
              ) : tab === 'waits' ? (
                <WaitsTab {...common} rowName={rowName} jump={jump} span={span} />
              ) : (
                <SelectionTab
                  {...common}
                  what={what}
                  focused={focus}
                  focus={(id) => setRest({ fn: focus === id ? '' : String(id) })}
                  canProfile={isLive()}
                  profile={() => {
                    const w = query.t1 === undefined && query.t0 <= 0 ? '' : `${query.t0}-${query.t1 ?? span + 1}`;
                    change({
                      view: 'profile',
                      node: -1,
                      root: -1,
                      locations: chosenRows(area) ?? '',
                      rest: { ...rest, pw: w },
                    });
                  }}
                />
              )}
            </div>
          </div>
        )}
      </div>
      {details && (
        <div class="pane" style={{ overflow: 'auto' }}>
          <div class="bar">
            <strong>Details</strong>
            <span class="spacer" />
            <button onClick={() => setRest({ I: '0' }, false)} title="hide (I)" aria-label="hide the details">
              ✕
            </button>
          </div>
          {message && messages.data && (
            <div class="fact" data-message="1">
              <strong>{messages.data.messages ? 'Message' : 'Bundle of messages'}</strong>
              <p>{messageText(messages.data, message)}</p>
              {messages.data.messages && (
                <>
                  <button onClick={() => jump(message[0]!, message[2]!)}>To the sender</button>{' '}
                  <button onClick={() => jump(message[1]!, message[3]!)}>To the receiver</button>
                </>
              )}
            </div>
          )}
          {picked ? (
            <Details
              {...{ dataset, channel, focus: (id: number) => setRest({ fn: String(id) }) }}
              location={picked.location}
              ns={picked.ns}
              pixel={(to - from) / 1000}
              name={rowName(picked.location)}
              window={to - from}
              found={found.data}
              failure={found.failure}
              select={selectCall}
            />
          ) : (
            <div class="empty">Click a place on the timeline.</div>
          )}
          {marks.length > 0 && (
            <div class="fact">
              <strong>Marks</strong>
              {marks.map((mark, i) => (
                <div key={i} style={{ display: 'flex', gap: '4px', marginTop: '4px' }}>
                  <button
                    class="link number"
                    onClick={() => jump(picked?.location ?? 0, mark.from, mark.to - mark.from)}
                  >
                    {timeText(mark.from, span)}
                  </button>
                  <input
                    aria-label={`note of mark ${i + 1}`}
                    placeholder="note"
                    style={{ flex: 1, minWidth: 0 }}
                    value={mark.note}
                    onChange={(e) =>
                      setRest({
                        marks: marksText(marks.map((m, j) => (j === i ? { ...m, note: e.currentTarget.value } : m))),
                      })
                    }
                  />
                  <button
                    aria-label="remove the mark"
                    onClick={() => setRest({ marks: marksText(marks.filter((_, j) => j !== i)) })}
                  >
                    ✕
                  </button>
                </div>
              ))}
              <button
                style={{ marginTop: '6px' }}
                onClick={() =>
                  void navigator.clipboard?.writeText(
                    [
                      'from_ns,to_ns,note',
                      ...marks.map((m) => `${m.from},${m.to},"${m.note.replace(/"/g, '""')}"`),
                    ].join('\n'),
                  )
                }
              >
                Copy as CSV
              </button>
            </div>
          )}
          <div class="fact">
            <strong>Colours of your own</strong>
            <input
              aria-label="colour rules"
              placeholder="MPI_Wait*=#cc0000;/solve/=#00aa44"
              style={{ width: '100%', marginTop: '4px' }}
              value={rest['rules'] ?? ''}
              onChange={(e) => setRest({ rules: e.currentTarget.value })}
            />
          </div>
        </div>
      )}
    </div>
  );
}

// Another trace below the first: the same zoom, moved against it.
function Aligned(p: {
  dataset: number;
  tint: string;
  from: number;
  to: number;
  by: ColourBy;
  rules: string;
  theme: string;
  depth: number;
  zoomTo: (from: number, to: number) => void;
  focusName: string;
  mainAt: number | null;
  mainDataset: number;
  mainFocus: number;
}) {
  const rest = state.value.rest;
  const { data, channel, failure, again } = useTimeline(p.dataset, undefined);
  const [turn, setTurn] = useState(0);
  const [spot, setSpot] = useState<Spot | null>(null);
  const key = `off${p.dataset}`;
  const offset = Number(rest[key] ?? 0);
  const rows = useMemo(
    () => (data ? rowsOf(data, { closed: new Set(), filter: rest['q'] ?? '', order: 'system', pinned: [] }) : []),
    [data, rest['q']],
  );
  const palette = useMemo(
    () => (data ? paletteOf(data, p.by, rulesOf(p.rules)) : () => [0, 0, 0]),
    [data, p.by, p.rules],
  );
  const tiles = useMemo(
    () =>
      data
        ? new Tiles(
            ({ rows: names, r, k, i }) =>
              binary(`${p.dataset}/tile`, {
                r: names ? undefined : r,
                rows: names || undefined,
                k,
                i,
                depth: p.depth,
                channel,
                v: data.state === 'building' ? data.rows_ready : undefined,
              }),
            palette,
            rgbOf(themeColour('stripe')),
            p.by === 'calls',
            () => setTurn((t) => t + 1),
          )
        : null,
    [data, channel, p.dataset, p.theme, p.depth, palette],
  );
  const move = (ns: number) => setRest({ [key]: String(Math.round(ns)) }, false);
  const alignFirst = async () => {
    if (!data || !p.focusName) return;
    const here = data.contexts.region[data.contexts.name.indexOf(p.focusName)];
    if (here === undefined || here < 0) return;
    const first = async (dataset: number, region: number) =>
      (await ask<{ t?: number }>(`${dataset}/next`, { row: 0, t: 0, region })).t;
    const [a, b] = [await first(p.mainDataset, p.mainFocus), await first(p.dataset, here)];
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
        {...{ data, rows, tiles, turn, palette }}
        theme={p.theme}
        depth={p.depth}
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
        labels={p.by !== 'calls'}
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

export type { TimelineData };
