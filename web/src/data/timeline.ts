// What a timeline is made of: rows from the system tree, their order, colours. No DOM.
import { levelFor } from './tile';
import { matcher } from './tree';

export interface Progress {
  state: 'building' | 'ready' | 'cancelled' | 'failed';
  version: number;
  rows_ready: number;
  events_read: number;
  transitions: number;
  index_bytes: number;
  seconds: number;
  stored: boolean;
  error?: string;
}

export interface TimelineData extends Progress {
  origin_ns: string;
  span_ns: number;
  tile_rows: number;
  tile_bins: number;
  contexts: {
    name: string[];
    parent: number[];
    depth: number[];
    region: number[];
    paradigm: string[];
    role: string[];
    module: string[];
    file: string[];
  };
  rows: { label: string[]; name: string[]; parent: number[]; rank: number[]; begin_ns: number[] };
  groups: { node: number; name: string; type: string; parent: number }[];
  channels: string[];
  activity_channel: number;
  held?: Held; // in a report
}

// What a report holds of a timeline.
export interface Held {
  rows: string[]; // as tiles name them, in the order of the tiles' rows
  levels: number[]; // of zoom, the coarsest first
  depths: number[]; // beside the innermost
  channels: number[];
  text: string; // in words
}

export function heldBy(data: TimelineData, what: 'depths' | 'channels', value: number): boolean {
  return !data.held || data.held[what].includes(value);
}

// The zoom level to draw with: the nearest to a pixel, or of those that are there.
export function levelOf(data: TimelineData, nsPerPixel: number): number {
  const wanted = levelFor(nsPerPixel);
  const levels = data.held?.levels ?? [];
  if (!levels.length) return wanted;
  return levels.reduce((best, k) => (Math.abs(k - wanted) < Math.abs(best - wanted) ? k : best));
}

// As the first step of a path: the function that follows, however it is called.
export const kAnywhere = '*';

// The context that a call path leads to, from the outermost in; what a trace does not tell apart (loops, lines) is
// passed over. -1: the trace has no such path.
export function contextOfPath(data: TimelineData, path: string[]): number {
  const { name, parent } = data.contexts;
  let at = -1;
  for (const step of path) {
    const next = name.findIndex((n, i) => n === step && parent[i] === at);
    if (next >= 0) at = next;
  }
  return at;
}

// One row of the picture: a location, or a group: as one row (closed) or as a heading of its members (open).
export interface Row {
  id: string; // "5", "g3": as tiles name it
  label: string;
  indent: number;
  group: number; // node of the system; -1 = a location
  open: boolean;
  members: number[]; // locations; none: a rank that is missing
}

export interface RowChoice {
  closed: Set<number>; // groups shown as one row
  filter: string;
  order: string; // 'system', 'name', 'start', 'time:NAME', 'similar'
  pinned: number[]; // locations on top
  times?: RowTimes | null;
}

export interface RowTimes {
  names: string[];
  rows: { row: number; times: [number, number][] }[];
}

// Rows that are alike stand together: from the first on always the one that differs least from the last.
export function bySimilarity(rows: number[], times: RowTimes): number[] {
  const shares = new Map<number, Map<number, number>>();
  for (const { row, times: list } of times.rows) {
    const sum = list.reduce((s, [, t]) => s + t, 0) || 1;
    shares.set(row, new Map(list.map(([name, t]) => [name, t / sum])));
  }
  if (rows.length > 2000) return rows; // too many to compare each with each
  const left = new Set(rows);
  const out: number[] = [];
  let last = rows[0];
  while (last !== undefined) {
    out.push(last);
    left.delete(last);
    const here = shares.get(last) ?? new Map<number, number>();
    let best: number | undefined;
    let least = Infinity;
    for (const other of left) {
      const there = shares.get(other) ?? new Map<number, number>();
      let distance = 0;
      for (const [name, share] of here) distance += Math.abs(share - (there.get(name) ?? 0));
      for (const [name, share] of there) if (!here.has(name)) distance += share;
      if (distance < least) {
        least = distance;
        best = other;
      }
    }
    last = best;
  }
  return out;
}

export function rowsOf(data: TimelineData, choice: RowChoice): Row[] {
  const count = data.rows.label.length;
  const label = (i: number) => data.rows.name[i] || data.rows.label[i] || String(i);
  const fits = matcher(choice.filter.trim()) ?? (() => !choice.filter.trim().startsWith('/'));
  const chosen = Array.from({ length: count }, (_, i) => i).filter(
    (i) => fits(label(i)) || fits(data.rows.label[i] ?? ''),
  );
  const plain = (i: number, indent = 0): Row => ({
    id: String(i),
    label: label(i),
    indent,
    group: -1,
    open: false,
    members: [i],
  });
  const pinned = choice.pinned.filter((i) => i < count);
  const top = pinned.map((i) => ({ ...plain(i), label: `⚲ ${label(i)}` }));
  const rest = chosen.filter((i) => !pinned.includes(i));
  const timeOf = (name: string) => {
    const number = choice.times?.names.indexOf(name) ?? -1;
    const found = new Map<number, number>();
    for (const { row, times } of choice.times?.rows ?? []) found.set(row, times.find(([n]) => n === number)?.[1] ?? 0);
    return (i: number) => found.get(i) ?? 0;
  };
  if (choice.order !== 'system') {
    let order = rest;
    if (choice.order === 'name')
      order = [...rest].sort((a, b) => label(a).localeCompare(label(b), undefined, { numeric: true }));
    else if (choice.order === 'start')
      order = [...rest].sort((a, b) => (data.rows.begin_ns[a] ?? 0) - (data.rows.begin_ns[b] ?? 0) || a - b);
    else if (choice.order.startsWith('time:')) {
      const time = timeOf(choice.order.slice(5));
      order = [...rest].sort((a, b) => time(b) - time(a) || a - b);
    } else if (choice.order === 'similar' && choice.times) order = bySimilarity(rest, choice.times);
    return [...top, ...order.map((i) => plain(i))];
  }
  // The system: groups with several locations that are not everything have a row of their own.
  const parents = new Map(data.groups.map((g) => [g.node, g]));
  const below = new Map<number, number[]>();
  for (const i of rest) {
    for (let at = data.rows.parent[i] ?? -1; at >= 0; at = parents.get(at)?.parent ?? -1) {
      if (!below.has(at)) below.set(at, []);
      below.get(at)!.push(i);
    }
  }
  const shown = (node: number) => {
    const members = below.get(node)?.length ?? 0;
    // One that only repeats the group around it says nothing new.
    const above = below.get(parents.get(node)?.parent ?? -1)?.length;
    return members > 1 && members < rest.length && members !== above;
  };
  const out: Row[] = [];
  const done = new Set<number>();
  for (const i of rest) {
    const chain: number[] = [];
    for (let at = data.rows.parent[i] ?? -1; at >= 0; at = parents.get(at)?.parent ?? -1)
      if (shown(at)) chain.unshift(at);
    let indent = 0;
    let hidden = false;
    for (const node of chain) {
      const closed = choice.closed.has(node);
      if (!done.has(node)) {
        done.add(node);
        out.push({
          id: `g${node}`,
          label: parents.get(node)?.name || parents.get(node)?.type || `group ${node}`,
          indent,
          group: node,
          open: !closed,
          members: below.get(node)!,
        });
      }
      ++indent;
      if (closed) {
        hidden = true;
        break;
      }
    }
    if (!hidden) out.push(plain(i, indent));
  }
  return [...top, ...out];
}

const kMostMissing = 200;

// Rows of ranks that the run had (`ranks` of them) and the trace has not: they are part of the picture, and empty.
export function missingRows(data: TimelineData, ranks: number): Row[] {
  const there = new Set(data.rows.rank);
  if (!Number.isInteger(ranks) || there.has(-1) || ranks > 1e6) return [];
  const out: Row[] = [];
  for (let rank = 0; rank < ranks && out.length < kMostMissing; ++rank) {
    if (there.has(rank)) continue;
    out.push({ id: `missing${rank}`, label: `rank ${rank}`, indent: 0, group: -1, open: false, members: [] });
  }
  return out;
}

// Names of rows for a tile: runs of locations in a row are shortened.
export function tileRows(all: Row[]): string {
  const rows = all.filter((row) => row.members.length > 0);
  const out: string[] = [];
  for (let i = 0; i < rows.length;) {
    const row = rows[i]!;
    if (row.group >= 0) {
      out.push(row.id);
      ++i;
      continue;
    }
    let last = i;
    while (
      last + 1 < rows.length &&
      rows[last + 1]!.group < 0 &&
      Number(rows[last + 1]!.id) === Number(rows[last]!.id) + 1
    )
      ++last;
    out.push(last === i ? row.id : `${row.id}-${rows[last]!.id}`);
    i = last + 1;
  }
  return out.join(',');
}

// "a-b" in ns.
export function rangeOf(text: string | undefined): [number, number] | null {
  const [from, to] = (text ?? '').split('-').map(Number);
  return from !== undefined && to !== undefined && to > from && from >= 0 ? [from, to] : null;
}

export interface Mark {
  from: number;
  to: number; // the same: a moment
  note: string;
}
// "1200:here,1500-1900:a phase"; notes are escaped as parts of an address.
export function marksOf(text: string | undefined): Mark[] {
  return (text ?? '')
    .split(',')
    .filter(Boolean)
    .map((piece) => {
      const at = piece.indexOf(':');
      const time = at < 0 ? piece : piece.slice(0, at);
      const [from, to] = time.split('-').map(Number);
      return { from: from ?? 0, to: to ?? from ?? 0, note: at < 0 ? '' : decodeURIComponent(piece.slice(at + 1)) };
    })
    .filter((m) => Number.isFinite(m.from) && Number.isFinite(m.to));
}
export function marksText(marks: Mark[]): string {
  return marks
    .map((m) => {
      const time = m.to > m.from ? `${Math.round(m.from)}-${Math.round(m.to)}` : String(Math.round(m.from));
      return m.note ? `${time}:${encodeURIComponent(m.note).replace(/,/g, '%2C')}` : time;
    })
    .join(',');
}

// Round steps for an axis: about one every `pixels`.
export function axisStep(span: number, width: number, pixels = 110): number {
  const raw = (span / Math.max(1, width)) * pixels;
  const size = 10 ** Math.floor(Math.log10(Math.max(1e-9, raw)));
  return [1, 2, 5, 10].map((m) => m * size).find((v) => v >= raw) ?? raw;
}
