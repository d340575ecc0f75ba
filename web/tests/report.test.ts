import { describe, expect, it } from 'vitest';
import { gatherTile, rowsAsked } from '../src/data/report_tiles';
import { decodeTile, encodeTile, kEmpty, type Tile } from '../src/data/tile';
import { contextOfPath, levelOf, type TimelineData } from '../src/data/timeline';

// main calls MPI_Send and solve, which calls MPI_Send as well; a report that holds rows 4, 2 and a group.
const data = {
  tile_rows: 2,
  tile_bins: 4,
  contexts: {
    name: ['main', 'MPI_Send', 'solve', 'MPI_Send'],
    parent: [-1, 0, 0, 2],
    region: [0, 1, 2, 1],
  },
  rows: { label: ['a', 'b', 'c', 'd', 'e'] },
  held: { rows: ['4', '2', 'g7'], levels: [6, 5, 4], depths: [], channels: [-1], text: '' },
} as unknown as TimelineData;

function tile(rows: number[][], names: number[]): Tile {
  const cells = rows.flat();
  return {
    exact: true,
    version: 3,
    firstNs: 0,
    k: 6,
    bins: 4,
    rows: rows.length,
    names: Uint32Array.from(names),
    dominant: Uint16Array.from(cells),
    share: Uint8Array.from(cells.map((_, i) => i + 1)),
    calls: Uint8Array.from(cells.map((_, i) => i + 100)),
  };
}
// Names are numbered differently in every tile.
const held = [
  tile(
    [
      [0, 0, 1, kEmpty],
      [1, 1, 1, 1],
    ],
    [0, 3],
  ),
  tile([[0, 0, 0, 0]], [1]),
];
const gather = async (query: Record<string, string | number>) =>
  decodeTile(await gatherTile({ k: 6, i: 0, ...query }, data, (block) => Promise.resolve(encodeTile(held[block]!))));
const contexts = (t: Tile, row: number) =>
  Array.from(t.dominant.slice(row * t.bins, (row + 1) * t.bins), (c) => (c === kEmpty ? -1 : t.names[c]));

describe('tiles of a report', () => {
  it('survive being written and read', () => {
    expect(decodeTile(encodeTile(held[0]!))).toEqual(held[0]);
  });
  it('knows which rows are asked for', () => {
    expect(rowsAsked({ rows: '1-3,g7,0' }, data)).toEqual(['1', '2', '3', 'g7', '0']);
    expect(rowsAsked({ r: 2 }, data)).toEqual(['4']);
  });
  it('puts rows together in any order; what is not held is empty', async () => {
    const t = await gather({ rows: 'g7,2,3,4' });
    expect([0, 1, 2, 3].map((r) => contexts(t, r))).toEqual([
      [1, 1, 1, 1],
      [3, 3, 3, 3],
      [-1, -1, -1, -1],
      [0, 0, 3, -1],
    ]);
    expect(Array.from(t.share.slice(4, 8))).toEqual([5, 6, 7, 8]);
    expect(Array.from(t.calls.slice(12, 15))).toEqual([100, 101, 102]);
    expect([t.exact, t.version, t.rows]).toEqual([true, 3, 4]);
  });
  it('leaves only a function or a call path, and says that this is not exact', async () => {
    const region = await gather({ rows: '4,g7', focus: 1 });
    expect([contexts(region, 0), contexts(region, 1)]).toEqual([
      [-1, -1, 3, -1],
      [1, 1, 1, 1],
    ]);
    expect(region.exact).toBe(false);
    const path = await gather({ rows: '4,g7', context: 2 });
    expect([contexts(path, 0), contexts(path, 1)]).toEqual([
      [-1, -1, 3, -1],
      [-1, -1, -1, -1],
    ]);
  });
});

describe('call paths on the timeline', () => {
  it('are found from the outermost in; loops are passed over', () => {
    expect(contextOfPath(data, ['main', 'solve', 'MPI_Send'])).toBe(3);
    expect(contextOfPath(data, ['main', 'MPI_Send'])).toBe(1);
    expect(contextOfPath(data, ['main', 'loop at solve.c: 3', 'solve'])).toBe(2);
    expect(contextOfPath(data, ['elsewhere'])).toBe(-1);
  });
});

describe('zoom levels', () => {
  it('are the nearest to a pixel, or of those that are held', () => {
    expect(levelOf(data, 2 ** 9)).toBe(6);
    expect(levelOf(data, 2 ** 5)).toBe(5);
    expect(levelOf(data, 1)).toBe(4);
    expect(levelOf({ ...data, held: undefined } as unknown as TimelineData, 2 ** 9)).toBe(9);
  });
});
