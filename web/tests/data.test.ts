import { describe, expect, it } from 'vitest';
import { csvCell, percent, readable, timeText, toNumber } from '../src/data/format';
import { evaluate } from '../src/data/model';
import { addressOf } from '../src/data/source';
import { figuresOf, histogram } from '../src/data/spread';
import { hotPath, makeTree, matcher, orderBy, visibleRows } from '../src/data/tree';
import type { Model, Nodes } from '../src/data/types';
import { layout } from '../src/draw/flame';
import { fromFragment, kInitial, parseRanges, rangesOf, toFragment } from '../src/state/state';
import { categoryOf, colourOf, nameHash } from '../src/theme/palette';

// main 100 (own 10) -> solve 70 (own 20) -> MPI_Wait 50; main -> io 20
const nodes: Nodes = {
  node: [0, 1, 2, 3],
  parent: [-1, 0, 1, 0],
  children: [2, 1, 0, 0],
  name: ['main', 'solve', 'MPI_Wait', 'io'],
  context: ['0', '1', '2', '3'],
  paradigm: ['', '', 'mpi', ''],
  role: ['', '', '', ''],
  place: ['', '', '', ''],
  metrics: [{ name: 'time', unit: 'sec', total: 100, inclusive: [100, 70, 50, 20], exclusive: [10, 20, 50, 20] }],
  all: 4,
};

describe('tree', () => {
  const tree = makeTree(nodes);
  it('hangs nodes below their parents', () => {
    expect(tree.roots.map((n) => n.name)).toEqual(['main']);
    expect(tree.byNumber.get(2)?.depth).toBe(2);
  });
  it('follows the heaviest child while it has half of its parent', () => {
    expect(hotPath(tree.roots).map((n) => n.name)).toEqual(['main', 'solve', 'MPI_Wait']);
    expect(hotPath(tree.roots, 0.75).map((n) => n.name)).toEqual(['main']);
  });
  it('shows what is open, sorted at every level', () => {
    const open = new Set([0]);
    expect(visibleRows(tree.roots, open, orderBy('i0-')).map((n) => n.name)).toEqual(['main', 'solve', 'io']);
    expect(visibleRows(tree.roots, open, orderBy('i0+')).map((n) => n.name)).toEqual(['main', 'io', 'solve']);
    expect(visibleRows(tree.roots, open, orderBy('name+')).map((n) => n.name)).toEqual(['main', 'io', 'solve']);
  });
  it('finds by part of a name and by expression', () => {
    expect(matcher('WAIT')!('MPI_Wait')).toBe(true);
    expect(matcher('/^s.lve$/')!('solve')).toBe(true);
    expect(matcher('/(/')).toBeNull();
  });
  it('gives flame boxes the width of their share', () => {
    const boxes = layout(tree.roots, false, 0);
    expect(boxes.map((b) => [b.node.name, b.x, b.width])).toEqual([
      ['main', 0, 1],
      ['solve', 0, 0.7],
      ['MPI_Wait', 0, 0.5],
      ['io', 0.7, 0.2],
    ]);
  });
});

describe('numbers', () => {
  it('reads like the command line', () => {
    expect(readable(0.0123, 'sec')).toBe('12.3 ms');
    expect(readable(33.04, 'sec')).toBe('33.0 s');
    expect(readable(1536, 'bytes')).toBe('1.50 KiB');
    expect(readable(1234567, 'occ')).toBe('1.23 M');
    expect(readable(42, 'occ')).toBe('42');
    expect(readable(0, 'sec')).toBe('0 s');
    expect(percent(1, 3)).toBe('33.3%');
    expect(percent(1, 0)).toBe('–');
  });
  it('takes texts where a double cannot hold the value', () => {
    expect(toNumber('18446744073709551615')).toBeCloseTo(2 ** 64);
    expect(toNumber('nan')).toBeNaN();
    expect(toNumber('-inf')).toBe(-Infinity);
  });
  it('shows moments with the digits that the window needs', () => {
    expect(timeText(1231000000, 5e9)).toBe('1.231 s');
    expect(timeText(1231, 500)).toBe('1231.0 ns');
  });
  it('keeps formulas out of spreadsheets', () => {
    expect(csvCell('=1+1')).toBe("'=1+1");
    expect(csvCell('-5')).toBe('-5');
    expect(csvCell('a "b", c')).toBe('"a ""b"", c"');
  });
});

describe('address', () => {
  it('holds the whole state and keeps what it does not know', () => {
    const state = { ...kInitial, view: 'profile' as const, metric: 'bytes sent', locations: '0-3,7', rest: { x: '1' } };
    expect(fromFragment(toFragment(state))).toEqual(state);
  });
  it('never carries the key', () => {
    expect(toFragment(fromFragment('k=secret&v=profile'))).toBe('v=profile');
  });
  it('asks one question under one address', () => {
    expect(addressOf('0/tree', { view: 'flat', metrics: 'a b', locations: '' })).toBe('0/tree?metrics=a%20b&view=flat');
  });
  it('writes locations as ranges', () => {
    expect(rangesOf([7, 0, 1, 2, 3])).toBe('0-3,7');
    expect(parseRanges('0-3,7')).toEqual([0, 1, 2, 3, 7]);
  });
});

describe('spread', () => {
  it('knows mean, quartiles and imbalance', () => {
    const f = figuresOf([1, 2, 3, 10]);
    expect(f.mean).toBe(4);
    expect(f.imbalance).toBe(1.5);
    expect(f.quartiles).toEqual([1.75, 2.5, 4.75]);
    expect(histogram([1, 2, 3, 10], 3).map((b) => b.members.length)).toEqual([3, 0, 1]);
  });
});

describe('model', () => {
  it('evaluates powers and logarithms', () => {
    const model = {
      terms: {
        constant: 1,
        compound: [{ coefficient: 2, factors: [{ parameter: 'p', exponent: '3/2', log: '1' }] }],
      },
    } as Model;
    expect(evaluate(model, ['p'], [4])).toBeCloseTo(1 + 2 * 8 * 2);
  });
});

describe('colour', () => {
  it('says what kind of work it is', () => {
    expect(categoryOf('MPI_Allreduce')).toBe('collective');
    expect(categoryOf('MPI_Isend')).toBe('p2p');
    expect(categoryOf('MPI_File_write_all')).toBe('io');
    expect(categoryOf('solve')).toBe('compute');
  });
  it('is the same for instances of one template', () => {
    expect(nameHash('f<int>(int)')).toBe(nameHash('f<double>(double)'));
    expect(colourOf('solve')).toEqual(colourOf('solve'));
  });
});
