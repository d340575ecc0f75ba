// What the colours of a timeline mean. No DOM.
import { categoryOf, colourOf, kBase, nameHash, type Category } from '../theme/palette';
import type { TimelineData } from './timeline';
import { matcher } from './tree';

// Those behind 'calls' colour by a value instead of by what is done.
export type ColourBy =
  'function' | 'category' | 'module' | 'depth' | 'calls' | 'duration' | 'bytes' | 'waiting' | 'counter';
export const kColourBy: [ColourBy, string][] = [
  ['function', 'function'],
  ['category', 'category'],
  ['module', 'module or file'],
  ['depth', 'depth'],
  ['calls', 'how many calls'],
  ['duration', 'call length'],
  ['bytes', 'bytes moved'],
  ['waiting', 'waiting'],
  ['counter', 'counter'],
];
export function isHeat(by: ColourBy): boolean {
  return ['duration', 'bytes', 'waiting', 'counter'].includes(by);
}

export interface Rule {
  pattern: string;
  colour: string;
}
// "MPI_Wait*=#ff0000;/solve/=#00aa00"
export function rulesOf(text: string): Rule[] {
  return text
    .split(';')
    .map((piece) => {
      const at = piece.lastIndexOf('=');
      return { pattern: piece.slice(0, at).trim(), colour: piece.slice(at + 1).trim() };
    })
    .filter((rule) => rule.pattern && /^#[0-9a-f]{6}$/i.test(rule.colour));
}
function ruleMatches(pattern: string, name: string): boolean {
  if (pattern.startsWith('/')) return matcher(pattern)?.(name) ?? false;
  const regex = new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replace(/\*/g, '.*')
      .replace(/\?/g, '.')}$`,
    'i',
  );
  return regex.test(name);
}
export function rgbOf(hex: string): number[] {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

// Light to dark, one hue: what has more is stronger.
export function ramp(part: number): number[] {
  const t = Math.max(0, Math.min(1, part));
  return [Math.round(222 - 200 * t), Math.round(235 - 170 * t), Math.round(247 - 110 * t)];
}

// The colour of every context, worked out once each.
export function paletteOf(data: TimelineData, by: ColourBy, rules: Rule[]): (context: number) => readonly number[] {
  const known = new Map<number, readonly number[]>();
  const deepest = Math.max(1, ...data.contexts.depth);
  return (context) => {
    let rgb = known.get(context);
    if (rgb) return rgb;
    const c = data.contexts;
    const name = c.name[context] ?? '';
    const rule = rules.find((r) => ruleMatches(r.pattern, name));
    const category: Category = categoryOf(name, c.paradigm[context] ?? '', c.role[context] ?? '');
    if (rule) rgb = rgbOf(rule.colour);
    else if (by === 'category') rgb = rgbOf(kBase[category]);
    else if (by === 'depth') rgb = ramp(0.15 + (0.85 * (c.depth[context] ?? 0)) / deepest);
    else if (by === 'module') {
      const module = c.module[context] || c.file[context] || '';
      const bases = Object.values(kBase);
      rgb = module ? colourOf(module, '', '') : rgbOf(kBase.other);
      if (module) rgb = rgbOf(bases[nameHash(module) % (bases.length - 1)]!);
    } else rgb = colourOf(name, c.paradigm[context] ?? '', c.role[context] ?? '');
    known.set(context, rgb);
    return rgb;
  };
}
