// The tiles of one trace with one choice of depth, colours and function; another choice makes others.
import { useMemo, useRef, useState } from 'preact/hooks';
import { paletteOf, rgbOf, rulesOf, type ColourBy } from '../data/colours';
import type { TimelineData } from '../data/timeline';
import { Tiles } from '../draw/tiles';
import { binary } from '../state/ask';
import { themeColour } from '../widgets/useCanvas';

export interface TileChoice {
  dataset: number;
  channel: number;
  depth: number;
  by: ColourBy;
  rules: string;
  focus: number; // region
  context: number; // a call path; -1: all
  theme: string;
}

// `unknown` is called when a tile names contexts that are not known yet.
export function useTiles(data: TimelineData | null, choice: TileChoice, unknown: () => void) {
  const [turn, setTurn] = useState(0);
  const { dataset, channel, depth, by, rules, focus, context, theme } = choice;
  const palette = useMemo(() => (data ? paletteOf(data, by, rulesOf(rules)) : () => [0, 0, 0]), [data, by, rules]);
  const last = useRef<Tiles | null>(null);
  const tiles = useMemo(() => {
    if (!data) return (last.current = null);
    const ask = ({ rows, r, k, i }: { rows: string; r: number; k: number; i: number }) =>
      binary(`${dataset}/tile`, {
        r: rows ? undefined : r,
        rows: rows || undefined,
        k,
        i,
        depth,
        channel,
        focus: focus >= 0 ? focus : undefined,
        context: context >= 0 ? context : undefined,
        v: data.state === 'building' ? data.rows_ready : undefined,
      });
    return (last.current = new Tiles(
      ask,
      palette,
      rgbOf(themeColour('stripe')),
      by === 'calls',
      (tile) => {
        setTurn((t) => t + 1);
        if (tile.names.some((n) => n >= data.contexts.name.length)) unknown();
      },
      last.current,
    ));
  }, [data, channel, dataset, theme, depth, focus, context, palette]);
  return { tiles, palette, turn };
}
