// The shown window: it lives in the address, so that the browser's "back" undoes a zoom.
import { useRef } from 'preact/hooks';
import { rangeOf } from '../data/timeline';
import { changeExtra, state, type State } from '../state/state';

const kLeast = 8; // ns
const kRest = 400; // ms: a zoom that rests so long is one step of undo

export function windowOf(of: State, span: number): [number, number] {
  return rangeOf(of.rest['w']) ?? [0, span];
}

let undone: string[] = [];

export interface Zoom {
  to: (from: number, to: number) => void;
  by: (factor: number, at: number) => void;
  pan: (part: number) => void;
  undo: () => void;
  redo: () => void;
}

export function useZoom(span: number, least = kLeast): Zoom {
  const pushed = useRef(0);
  // Zooms replace the address while moving and push one entry when they rest.
  const to = (a: number, b: number) => {
    const width = Math.min(span, Math.max(least, b - a));
    const start = Math.min(Math.max(0, a), span - width);
    const now = performance.now();
    undone = [];
    changeExtra({ w: `${Math.round(start)}-${Math.round(start + width)}` }, now - pushed.current > kRest);
    pushed.current = now;
  };
  // From the address, not from what was drawn last: keys may come faster than pictures.
  const now = () => windowOf(state.value, span);
  return {
    to,
    by: (factor, at) => {
      const [a, b] = now();
      to(at - (at - a) * factor, at + (b - at) * factor);
    },
    pan: (part) => {
      const [a, b] = now();
      to(a + (b - a) * part, b + (b - a) * part);
    },
    undo: () => {
      const [a, b] = now();
      undone.push(`${Math.round(a)}-${Math.round(b)}`);
      history.back();
    },
    redo: () => {
      const next = undone.pop();
      if (next) changeExtra({ w: next });
    },
  };
}
