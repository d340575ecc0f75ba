// Asking from inside a view: the old answer stays until the new one is there, so that nothing flashes.
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { addressOf, Failure, type Query, type Source } from '../data/source';
import { state } from './state';

export const waiting = signal(0);

// How many questions are open stands at the page itself: who waits until it rests looks there.
let open = 0;
function counted<T>(answer: Promise<T>): Promise<T> {
  const count = (change: number) => {
    open += change;
    document.documentElement.dataset['pending'] = String(open);
  };
  count(1);
  const done = () => count(-1);
  answer.then(done, done);
  return answer;
}

let source: Source;
export function useSource(from: Source): void {
  source = from;
}
export function isLive(): boolean {
  return source.live;
}

export function binary(path: string, query: Query): Promise<ArrayBuffer> {
  return counted(source.bytes(path, query));
}

// One answer, for what is done once.
export function ask<T>(path: string, query: Query = {}): Promise<T> {
  return counted(source.get<T>(path, query));
}

export function post<T>(path: string, body: string): Promise<T> {
  ++waiting.value;
  return counted(source.post<T>(path, body)).finally(() => --waiting.value);
}

export interface Asked<T> {
  data: T | null;
  stale: boolean; // the answer belongs to the question before
  failure: Failure | null;
  again: () => void;
}

// Questions about a profile are about the window that was chosen on the timeline, as long as there is one.
const kOfProfile = /^\d+\/(tree|hot|search|flame|spread|metrics|locations|sources|source)$/;
function scoped(path: string, query: Query): Query {
  const window = kOfProfile.test(path) ? state.value.rest['pw'] : undefined;
  return window ? { ...query, window } : query;
}

// Null as path: nothing to ask yet.
export function useAsk<T>(path: string | null, asked: Query = {}): Asked<T> {
  const query = path === null ? asked : scoped(path, asked);
  const [answer, setAnswer] = useState<{ data: T | null; failure: Failure | null; of: string }>({
    data: null,
    failure: null,
    of: '',
  });
  const [turn, setTurn] = useState(0);
  const address = path === null ? '' : addressOf(path, query);
  const latest = useRef('');
  useEffect(() => {
    if (path === null) return;
    latest.current = address;
    ++waiting.value;
    counted(source.get<T>(path, query))
      .then(
        (data) => {
          if (latest.current === address) setAnswer({ data, failure: null, of: address });
        },
        (failure: Failure) => {
          if (latest.current === address) setAnswer((old) => ({ ...old, failure }));
        },
      )
      .finally(() => --waiting.value);
  }, [address, turn]);
  const { data, failure, of } = answer;
  return { data, failure: path === null ? null : failure, stale: of !== address, again: () => setTurn(turn + 1) };
}
