// What was made of a profile before it is looked at: metrics that were added, contexts that were hidden. In the address.
import type { Query } from '../data/source';
import { changeExtra, extra } from './state';

export type ShapeKind = 'derive' | 'cubepl' | 'hide';

export function shapeLines(kind: ShapeKind): string[] {
  return extra(kind).split('\n').filter(Boolean);
}
// As part of a question.
export function shapeQuery(): Query {
  return { derive: extra('derive'), cubepl: extra('cubepl'), hide: extra('hide') };
}
export function addToShape(kind: ShapeKind, line: string, more: Record<string, string> = {}): void {
  changeExtra({ [kind]: [...new Set([...shapeLines(kind), line])].join('\n'), ...more });
}
export function dropFromShape(kind: ShapeKind, line: string): void {
  changeExtra({
    [kind]: shapeLines(kind)
      .filter((l) => l !== line)
      .join('\n'),
  });
}

export const kVerbs: Record<string, string> = {
  elide: 'merged into the caller',
  prune: 'hidden with all below',
  fold: 'callees hidden',
  root: 'only',
  collapse: 'without its recursion',
};
// A region's name as a pattern that fits it alone.
export function patternFor(name: string): string {
  return name.replace(/[*?[\]\\]/g, '?');
}
