// One state for all views: which dataset, metric, context, locations. It lives in the address, so that a link, a reload
// and the browser's back button give the same page.
import { computed, signal } from '@preact/signals';

export type ViewName = 'overview' | 'profile' | 'timeline' | 'scaling' | 'compare' | 'sql' | 'findings';
export const kViews: { name: ViewName; title: string }[] = [
  { name: 'overview', title: 'Overview' },
  { name: 'profile', title: 'Profile' },
  { name: 'timeline', title: 'Timeline' },
  { name: 'scaling', title: 'Scaling' },
  { name: 'compare', title: 'Compare' },
  { name: 'sql', title: 'SQL' },
  { name: 'findings', title: 'Findings' },
];

export interface State {
  view: ViewName;
  dataset: number;
  metric: string; // empty: the likely one
  tree: 'topdown' | 'bottomup' | 'flat' | 'modules';
  node: number; // selected node of the tree; -1 none
  root: number; // only this subtree; -1 all
  locations: string; // "0-3,7"; empty: all
  values: 'inclusive' | 'exclusive' | 'cube';
  percent: 'total' | 'parent' | 'selection' | 'absolute';
  sort: string; // column and direction: "i0-", "name+"
  rest: Record<string, string>; // what this version does not know, kept
}

export const kInitial: State = {
  view: 'overview',
  dataset: 0,
  metric: '',
  tree: 'topdown',
  node: -1,
  root: -1,
  locations: '',
  values: 'inclusive',
  percent: 'total',
  sort: 'i0-',
  rest: {},
};

const kKeys: Record<string, keyof State> = {
  v: 'view',
  d: 'dataset',
  m: 'metric',
  t: 'tree',
  c: 'node',
  top: 'root',
  r: 'locations',
  i: 'values',
  p: 'percent',
  s: 'sort',
};

export function toFragment(state: State): string {
  const out = new URLSearchParams();
  for (const [short, key] of Object.entries(kKeys)) {
    if (state[key] !== kInitial[key]) out.set(short, String(state[key]));
  }
  for (const [key, value] of Object.entries(state.rest)) if (value !== '') out.set(key, value);
  return out.toString();
}

export function fromFragment(fragment: string): State {
  const state: State = { ...kInitial, rest: {} };
  for (const [short, value] of new URLSearchParams(fragment)) {
    const key = kKeys[short];
    if (!key) {
      if (short !== 'k') state.rest[short] = value;
    } else if (typeof kInitial[key] === 'number') {
      const number = Number(value);
      if (Number.isInteger(number)) Object.assign(state, { [key]: number });
    } else {
      Object.assign(state, { [key]: value });
    }
  }
  return state;
}

export const state = signal<State>(kInitial);
export const view = computed(() => state.value.view);

export function change(part: Partial<State>, remember = true): void {
  const next = { ...state.value, ...part };
  const fragment = `#${toFragment(next)}`;
  if (fragment !== location.hash) {
    if (remember) history.pushState(null, '', fragment);
    else history.replaceState(null, '', fragment);
  }
  state.value = next;
}

// What belongs to one view alone has no name of its own in the state, but its place in the address.
export function extra(name: string): string {
  return state.value.rest[name] ?? '';
}
export function withExtra(part: Record<string, string>, of: State = state.value): Record<string, string> {
  return Object.fromEntries(Object.entries({ ...of.rest, ...part }).filter(([, value]) => value !== ''));
}
export function changeExtra(part: Record<string, string>, remember = true): void {
  change({ rest: withExtra(part) }, remember);
}

export function followAddress(): void {
  const read = () => (state.value = fromFragment(location.hash.slice(1)));
  read();
  addEventListener('popstate', read);
  addEventListener('hashchange', read);
}

// "0-3,7" <-> numbers
export function parseRanges(text: string): number[] {
  const out: number[] = [];
  for (const piece of text.split(',').filter(Boolean)) {
    const [first, last] = piece.split('-').map(Number);
    for (let i = first ?? 0; i <= (last ?? first ?? -1); ++i) out.push(i);
  }
  return out;
}
export function rangesOf(numbers: number[]): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const out: string[] = [];
  for (let i = 0; i < sorted.length;) {
    let j = i;
    while (j + 1 < sorted.length && sorted[j + 1] === (sorted[j] ?? 0) + 1) ++j;
    out.push(i === j ? `${sorted[i]}` : `${sorted[i]}-${sorted[j]}`);
    i = j + 1;
  }
  return out.join(',');
}
