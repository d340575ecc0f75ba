// The rows and contexts of a trace, followed while its index is made.
import { useEffect, useState } from 'preact/hooks';
import type { Failure } from '../data/source';
import type { TimelineData } from '../data/timeline';
import { ask, isLive, useAsk } from '../state/ask';

export interface Followed {
  data: TimelineData | null;
  channel: number;
  failure: Failure | null;
  again: () => void;
  cancel: () => void;
  restart: () => void;
}

// `wanted`: the channel of the address; nothing = what the trace offers.
export function useTimeline(dataset: number, wanted: string | undefined): Followed {
  const [turn, setTurn] = useState(0);
  // Which channel tells what a location does is known with the first answer only.
  const first = useAsk<TimelineData>(wanted === undefined ? `${dataset}/timeline` : null, { channel: -1 });
  const offered = first.data?.activity_channel ?? -1;
  const channel = wanted === undefined ? offered : Number(wanted);
  const asked = useAsk<TimelineData>(wanted !== undefined || channel >= 0 || turn ? `${dataset}/timeline` : null, {
    channel,
    turn: turn || undefined,
  });
  const data = wanted === undefined && channel < 0 && !turn ? first.data : (asked.data ?? first.data);
  useEffect(() => {
    if (data?.state !== 'building' || !isLive()) return;
    const timer = setTimeout(() => setTurn((t) => t + 1), 800);
    return () => clearTimeout(timer);
  }, [data]);
  const next = () => setTurn((t) => t + 1);
  return {
    data,
    channel,
    failure: first.failure ?? asked.failure,
    again: next,
    cancel: () => void ask(`${dataset}/progress`, { channel, cancel: 1, turn: Date.now() }).then(next),
    restart: () => void ask(`${dataset}/progress`, { channel, restart: 1, turn: Date.now() }).then(next),
  };
}
