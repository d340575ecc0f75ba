// Tiles in a report: the rows that are asked for are put together from those that it holds. No DOM.
import type { Query } from './source';
import { decodeTile, encodeTile, kBelow, kEmpty, type Tile } from './tile';
import type { TimelineData } from './timeline';

// "0-2,g7" -> 0, 1, 2, g7; without a list the block `r` of all locations.
export function rowsAsked(query: Query, data: TimelineData): string[] {
  const text = String(query['rows'] ?? '');
  const number = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
  if (!text) {
    const first = Number(query['r'] ?? 0) * data.tile_rows;
    return number(first, Math.min(first + data.tile_rows, data.rows.label.length) - 1);
  }
  return text.split(',').flatMap((piece) => {
    const [first, last] = piece.split('-');
    return last === undefined || piece.startsWith('g') ? [piece] : number(Number(first), Number(last));
  });
}

// Only what lies in a region or a context, as far as it fills most of a cell: less than that is not told in a report.
function isInside(data: TimelineData, query: Query): ((context: number) => boolean) | null {
  const region = query['focus'] === undefined ? -1 : Number(query['focus']);
  const wanted = query['context'] === undefined ? -1 : Number(query['context']);
  if (region < 0 && wanted < 0) return null;
  const { contexts } = data;
  return (context) => {
    for (let at = context; at >= 0; at = contexts.parent[at] ?? -1) {
      if (at === wanted || (region >= 0 && contexts.region[at] === region)) return true;
    }
    return false;
  };
}

// `held` gives the tile of a block of the report's rows.
export async function gatherTile(
  query: Query,
  data: TimelineData,
  held: (block: number) => Promise<ArrayBuffer>,
): Promise<ArrayBuffer> {
  const wanted = rowsAsked(query, data);
  const places = new Map((data.held?.rows ?? []).map((id, i) => [id, i]));
  const blocks = new Map<number, Tile>();
  const found = wanted.map((id) => places.get(id) ?? -1);
  for (const place of found) {
    const block = Math.floor(place / data.tile_rows);
    if (place >= 0 && !blocks.has(block)) blocks.set(block, decodeTile(await held(block)));
  }
  const inside = isInside(data, query);
  const bins = data.tile_bins;
  const names: number[] = [];
  const number = new Map<number, number>();
  const out: Tile = {
    exact: [...blocks.values()].every((t) => t.exact) && !inside,
    version: [...blocks.values()][0]?.version ?? 0,
    firstNs: Number(query['i']) * bins * 2 ** Number(query['k']),
    k: Number(query['k']),
    bins,
    rows: wanted.length,
    names: new Uint32Array(),
    dominant: new Uint16Array(wanted.length * bins).fill(kEmpty),
    share: new Uint8Array(wanted.length * bins),
    calls: new Uint8Array(wanted.length * bins),
  };
  found.forEach((place, r) => {
    const tile = blocks.get(Math.floor(place / data.tile_rows));
    if (place < 0 || !tile) return;
    const from = (place % data.tile_rows) * bins;
    for (let i = 0; i < bins; ++i) {
      const cell = tile.dominant[from + i] ?? kEmpty;
      if (cell === kEmpty) continue;
      const context = tile.names[cell & ~kBelow] ?? 0;
      if (inside && !inside(context)) continue;
      let name = number.get(context);
      if (name === undefined) {
        name = names.push(context) - 1;
        number.set(context, name);
      }
      out.dominant[r * bins + i] = name | (cell & kBelow);
      out.share[r * bins + i] = tile.share[from + i] ?? 0;
      out.calls[r * bins + i] = tile.calls[from + i] ?? 0;
    }
  });
  return encodeTile({ ...out, names: Uint32Array.from(names) });
}
