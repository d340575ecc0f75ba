// Asking from inside a view: the old answer stays until the new one is there, so that nothing flashes.
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { addressOf, Failure, type Query, type Source } from '../data/source';

export const waiting = signal(0);

let source: Source;
export function useSource(from: Source): void {
  source = from;
}
export function isLive(): boolean {
  return source.live;
}

export function binary(path: string, query: Query): Promise<ArrayBuffer> {
  return source.bytes(path, query);
}

export interface Asked<T> {
  data: T | null;
  failure: Failure | null;
  again: () => void;
}

// Null as path: nothing to ask yet.
export function useAsk<T>(path: string | null, query: Query = {}): Asked<T> {
  const [answer, setAnswer] = useState<{ data: T | null; failure: Failure | null }>({ data: null, failure: null });
  const [turn, setTurn] = useState(0);
  const address = path === null ? '' : addressOf(path, query);
  const latest = useRef('');
  useEffect(() => {
    if (path === null) return;
    latest.current = address;
    ++waiting.value;
    source
      .get<T>(path, query)
      .then(
        (data) => {
          if (latest.current === address) setAnswer({ data, failure: null });
        },
        (failure: Failure) => {
          if (latest.current === address) setAnswer((old) => ({ data: old.data, failure }));
        },
      )
      .finally(() => --waiting.value);
  }, [address, turn]);
  return { ...answer, again: () => setTurn(turn + 1) };
}
