import { describe, expect, it } from 'vitest';
import { paletteOf, rulesOf } from '../src/data/colours';
import {
  bySimilarity,
  marksOf,
  marksText,
  rangeOf,
  rowsOf,
  tileRows,
  type RowChoice,
  type TimelineData,
} from '../src/data/timeline';

// Two nodes with a process of two threads each.
const data = {
  contexts: {
    name: ['main', 'MPI_Send'],
    parent: [-1, 0],
    depth: [0, 1],
    region: [0, 1],
    paradigm: ['', 'mpi'],
    role: ['', ''],
    module: ['a.out', 'libmpi.so'],
    file: ['', ''],
  },
  rows: {
    label: ['0.0', '0.1', '1.0', '1.1'],
    name: ['rank 0, t0', 'rank 0, t1', 'rank 1, t0', 'rank 1, t1'],
    parent: [2, 2, 4, 4],
    rank: [0, 0, 1, 1],
    begin_ns: [30, 20, 10, 0],
  },
  groups: [
    { node: 0, name: 'machine', type: 'machine', parent: -1 },
    { node: 1, name: 'alpha', type: 'node', parent: 0 },
    { node: 2, name: 'rank 0', type: 'process', parent: 1 },
    { node: 3, name: 'beta', type: 'node', parent: 0 },
    { node: 4, name: 'rank 1', type: 'process', parent: 3 },
  ],
} as unknown as TimelineData;
const choice = (part: Partial<RowChoice> = {}): RowChoice => ({
  closed: new Set(),
  filter: '',
  order: 'system',
  pinned: [],
  ...part,
});

describe('rows of a timeline', () => {
  it('come from the system, with groups that are neither all nor one', () => {
    expect(rowsOf(data, choice()).map((r) => r.id)).toEqual(['g1', '0', '1', 'g3', '2', '3']);
  });
  it('are one where a group is closed', () => {
    const rows = rowsOf(data, choice({ closed: new Set([1]) }));
    expect(rows.map((r) => r.id)).toEqual(['g1', 'g3', '2', '3']);
    expect(rows[0]?.members).toEqual([0, 1]);
    expect(rows[0]?.open).toBe(false);
  });
  it('can be filtered, ordered and pinned', () => {
    expect(rowsOf(data, choice({ filter: 'rank 1' })).map((r) => r.id)).toEqual(['2', '3']);
    expect(rowsOf(data, choice({ filter: '/t1$/', order: 'name' })).map((r) => r.id)).toEqual(['1', '3']);
    expect(rowsOf(data, choice({ filter: '/(/' }))).toEqual([]);
    expect(rowsOf(data, choice({ order: 'start' })).map((r) => r.id)).toEqual(['3', '2', '1', '0']);
    expect(rowsOf(data, choice({ order: 'name', pinned: [2] })).map((r) => r.id)).toEqual(['2', '0', '1', '3']);
  });
  it('by time in a function, and alike together', () => {
    const times = {
      names: ['a', 'b'],
      rows: [
        {
          row: 0,
          times: [
            [0, 10],
            [1, 0],
          ] as [number, number][],
        },
        {
          row: 1,
          times: [
            [0, 0],
            [1, 10],
          ] as [number, number][],
        },
        {
          row: 2,
          times: [
            [0, 9],
            [1, 1],
          ] as [number, number][],
        },
        {
          row: 3,
          times: [
            [0, 1],
            [1, 9],
          ] as [number, number][],
        },
      ],
    };
    expect(rowsOf(data, choice({ order: 'time:b', times })).map((r) => r.id)).toEqual(['1', '3', '2', '0']);
    expect(bySimilarity([0, 1, 2, 3], times)).toEqual([0, 2, 3, 1]);
  });
  it('are named shortly for tiles', () => {
    expect(tileRows(rowsOf(data, choice()))).toBe('g1,0-1,g3,2-3');
    expect(tileRows(rowsOf(data, choice({ order: 'start' })))).toBe('3,2,1,0');
  });
});

describe('the address of a timeline', () => {
  it('holds ranges', () => {
    expect(rangeOf('10-20')).toEqual([10, 20]);
    for (const wrong of [undefined, '', '20-10', 'a-b', '5']) expect(rangeOf(wrong)).toBeNull();
  });
  it('holds marks with notes of any text', () => {
    const marks = [
      { from: 5, to: 5, note: 'a, b: c-d' },
      { from: 10, to: 20, note: '' },
    ];
    expect(marksOf(marksText(marks))).toEqual(marks);
  });
  it('holds rules of colours; what is none is left out', () => {
    expect(rulesOf('MPI_*=#ff0000;x;/so/=#00aa00')).toEqual([
      { pattern: 'MPI_*', colour: '#ff0000' },
      { pattern: '/so/', colour: '#00aa00' },
    ]);
    const palette = paletteOf(data, 'function', rulesOf('MPI_*=#ff0000'));
    expect(palette(1)).toEqual([255, 0, 0]);
    expect(palette(0)).not.toEqual([255, 0, 0]);
  });
});
