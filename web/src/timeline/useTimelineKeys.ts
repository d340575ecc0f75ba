// The keys of the timeline (listed in state/keys.ts).
import { useEffect } from 'preact/hooks';
import { marksText, type Row } from '../data/timeline';
import { changeExtra, rangesOf } from '../state/state';
import type { Hover } from './Chart';
import type { Call } from './Details';
import { kInnermost, type Settings } from './settings';
import type { Zoom } from './zoom';

export interface Picked {
  location: number;
  ns: number;
  row: number; // position in the list of rows; -1: not shown
}

interface Context {
  zoom: Zoom;
  span: number;
  from: number;
  to: number;
  settings: Settings;
  rows: Row[];
  picked: Picked | null;
  under: Hover | null;
  inner: Call | undefined; // the innermost call of the picked moment
  pair: [number, number] | null;
  dropPair: () => void;
  pick: (location: number, ns: number) => void;
  fit: (row: number, ns: number) => void;
  step: (back: boolean, same: boolean) => void;
  selectCall: (call: Call) => void;
  toggleAround: (row: Row) => void;
}

type Keys = Record<string, (shift: boolean) => void>;

function zoomKeys({ zoom, span, from, to, settings, under, picked, fit }: Context): Keys {
  const { area } = settings;
  // At the pointer, or the selection, or the middle.
  const by = (factor: number) =>
    zoom.by(
      factor,
      under && under.ns > from && under.ns < to ? under.ns : area ? (area.from + area.to) / 2 : (from + to) / 2,
    );
  return {
    KeyW: () => by(0.5),
    KeyS: () => by(2),
    Equal: () => by(0.5),
    NumpadAdd: () => by(0.5),
    Minus: () => by(2),
    NumpadSubtract: () => by(2),
    KeyA: (shift) => zoom.pan(shift ? -1 : -0.25),
    KeyD: (shift) => zoom.pan(shift ? 1 : 0.25),
    ArrowLeft: (shift) => zoom.pan(shift ? -1 : -0.25),
    ArrowRight: (shift) => zoom.pan(shift ? 1 : 0.25),
    Digit0: () => zoom.to(0, span),
    Home: () => zoom.pan(-1e9),
    End: () => zoom.pan(1e9),
    Enter: () => area && zoom.to(area.from, area.to),
    Backspace: () => history.back(),
    KeyZ: (shift) => (shift ? zoom.redo() : zoom.undo()),
    KeyF: () => {
      if (!picked) return;
      const half = (to - from) / 2;
      // First to the middle; there already: as large as it gets.
      if (Math.abs((from + to) / 2 - picked.ns) > half / 25) zoom.to(picked.ns - half, picked.ns + half);
      else if (picked.row >= 0) fit(picked.row, picked.ns);
    },
  };
}

function rowKeys({ rows, picked, under, from, to, settings, pick, toggleAround }: Context): Keys {
  const move = (by: number) => {
    const places = rows.filter((r) => r.group < 0 && r.members.length > 0);
    const now = places.findIndex((r) => r.members[0] === picked?.location);
    const next = places[Math.max(0, Math.min(places.length - 1, (now < 0 ? -1 : now) + by))];
    if (next) pick(next.members[0]!, picked?.ns ?? (from + to) / 2);
  };
  return {
    ArrowUp: () => move(-1),
    ArrowDown: () => move(1),
    PageUp: () => move(-20),
    PageDown: () => move(20),
    KeyP: () => {
      if (!picked) return;
      const now = new Set(settings.pinned);
      if (!now.delete(picked.location)) now.add(picked.location);
      changeExtra({ pin: rangesOf([...now]) });
    },
    KeyG: () => {
      const row = under ? rows[under.row] : picked && rows[picked.row];
      if (row) toggleAround(row);
    },
  };
}

function choiceKeys(c: Context): Keys {
  const { depth, area, marks, lines, drawer, details, focus, path } = c.settings;
  return {
    BracketLeft: () => changeExtra({ depth: depth === kInnermost ? '8' : String(Math.max(0, depth - 1)) }),
    BracketRight: () => changeExtra({ depth: depth >= 16 ? '' : String(depth + 1) }),
    Comma: (shift) => c.step(true, shift),
    Period: (shift) => c.step(false, shift),
    KeyR: () => c.inner?.end_ns !== undefined && c.selectCall(c.inner),
    KeyM: (shift) => {
      const at = c.picked?.ns ?? c.under?.ns ?? (c.from + c.to) / 2;
      const next = shift && area ? { from: area.from, to: area.to, note: '' } : { from: at, to: at, note: '' };
      changeExtra({ marks: marksText([...marks, next]) });
    },
    KeyL: () => changeExtra({ L: lines ? '0' : '' }),
    KeyQ: () => changeExtra({ Q: drawer ? '0' : '' }, false),
    KeyI: () => changeExtra({ I: details ? '0' : '' }, false),
    KeyC: (shift) => {
      const call = c.inner && `${c.inner.name} ${c.inner.begin_ns} ${c.inner.end_ns ?? ''} ${c.inner.detail}`;
      void navigator.clipboard?.writeText(shift ? location.href : (call ?? c.under?.text ?? ''));
    },
    Escape: () => {
      if (area) changeExtra({ sel: '', sr: '' });
      else if (focus >= 0 || path.length) changeExtra({ fn: '', fp: '' });
      else if (c.pair) c.dropPair();
      else if (c.picked) changeExtra({ at: '' });
    },
  };
}

export function useTimelineKeys(context: Context): void {
  useEffect(() => {
    const keys: Keys = { ...zoomKeys(context), ...rowKeys(context), ...choiceKeys(context) };
    const listener = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (target.matches('input, select, textarea') || event.ctrlKey || event.metaKey || event.altKey) return;
      // Tables have their own arrows.
      if (target.closest('[role=treegrid]') && /^(Arrow|Page|Home|End|Enter)/.test(event.code)) return;
      const action = keys[event.code];
      if (!action || (event.shiftKey && event.code === 'Slash')) return;
      action(event.shiftKey);
      if (event.code !== 'Escape') event.preventDefault();
    };
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  });
}
