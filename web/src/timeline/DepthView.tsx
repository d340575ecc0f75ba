// The call stack of one row over time: a lane per level, the same zoom as above.
import { useMemo, useState } from 'preact/hooks';
import { rgbOf } from '../data/colours';
import { kBelow, kEmpty, levelFor } from '../data/tile';
import type { TimelineData } from '../data/timeline';
import { Tiles } from '../draw/tiles';
import { binary } from '../state/ask';
import { themeColour, useCanvas } from '../widgets/useCanvas';
import { drawBoxLabels, type Place } from './overlays';
import { drawMoment, kNames } from './frame';

interface Props {
  dataset: number;
  channel: number;
  data: TimelineData;
  location: number;
  from: number;
  to: number;
  at: number; // the moment that is picked
  theme: string;
  palette: (context: number) => readonly number[];
  zoomTo: (from: number, to: number) => void;
  pick: (ns: number) => void;
}
const kLane = 17;
const kMostLanes = 24;

export function lanesOf(data: TimelineData): number {
  return Math.min(kMostLanes, 1 + Math.max(0, ...data.contexts.depth));
}

export function DepthView(p: Props) {
  const { data, from, to } = p;
  const [turn, setTurn] = useState(0);
  const [scroll, setScroll] = useState(0);
  const lanes = lanesOf(data);
  const tiles = useMemo(
    () =>
      new Tiles(
        ({ k, i }) =>
          binary(`${p.dataset}/tile`, { rows: String(p.location), lanes, depth: 0, k, i, channel: p.channel }),
        p.palette,
        rgbOf(themeColour('stripe')),
        false,
        () => setTurn((t) => t + 1),
      ),
    [p.dataset, p.location, p.channel, data.version, lanes, p.palette, p.theme],
  );
  const rows = useMemo(
    () =>
      Array.from({ length: lanes }, (_, i) => ({
        id: String(i),
        label: `level ${i}`,
        indent: 0,
        group: -1,
        open: false,
        members: [i],
      })),
    [lanes],
  );
  const { canvas, attach, width, height } = useCanvas(
    ({ context: c, width: w, height: h }) => {
      const plot = Math.max(1, w - kNames);
      const perPixel = (to - from) / plot;
      const at: Place = {
        left: kNames,
        top: 0,
        width: plot,
        height: h,
        rowHeight: kLane,
        perPixel,
        x: (ns) => kNames + (ns - from) / perPixel,
        y: (position) => position * kLane - scroll,
        rowOf: (i) => i,
        from,
        to,
      };
      c.fillStyle = themeColour('background');
      c.fillRect(0, 0, w, h);
      c.save();
      c.beginPath();
      c.rect(kNames, 0, plot, h);
      c.clip();
      c.imageSmoothingEnabled = false;
      const k = levelFor(perPixel);
      const tileNs = 2 ** k * data.tile_bins;
      const drawn = [];
      for (let i = Math.max(0, Math.floor(from / tileNs)); i * tileNs < to; ++i) {
        const found = tiles.best({ rows: '', r: 0, k, i });
        if (!found) continue;
        const size = 2 ** found.k;
        const begin = (i * tileNs - found.i * size * data.tile_bins) / size;
        c.drawImage(
          found.shown.picture,
          begin,
          0,
          tileNs / size,
          lanes,
          at.x(i * tileNs),
          -scroll,
          tileNs / perPixel,
          lanes * kLane,
        );
        if (found.k === k) drawn.push({ tile: found.shown.tile, first: 0, from: i * tileNs });
      }
      c.fillStyle = themeColour('background');
      for (let r = 0; r <= lanes; ++r) c.fillRect(kNames, at.y(r) - 1, plot, 1);
      drawBoxLabels(c, at, drawn, rows, data, p.palette, 0, lanes);
      drawMoment(c, at.x(p.at), 0, h);
      c.restore();
      c.font = `11px ${themeColour('font')}`;
      c.textBaseline = 'middle';
      c.fillStyle = themeColour('quiet');
      for (let r = 0; r < lanes; ++r)
        c.fillText(r ? `level ${r}` : data.rows.name[p.location] || 'level 0', 8, at.y(r) + kLane / 2);
      c.fillStyle = themeColour('line');
      c.fillRect(kNames - 1, 0, 1, h);
    },
    [tiles, turn, from, to, p.at, p.theme, scroll, lanes],
  );
  // What is open at the picked moment, a name per level, as far as it is drawn.
  const stack = () => {
    const k = levelFor((to - from) / Math.max(1, width - kNames));
    const bin = Math.floor(p.at / 2 ** k);
    const shown = tiles.peek({ rows: '', r: 0, k, i: Math.floor(bin / data.tile_bins) });
    if (!shown) return undefined;
    const cells = Array.from({ length: lanes }, (_, r) => {
      const cell = shown.tile.dominant[r * shown.tile.bins + (bin % data.tile_bins)] ?? kEmpty;
      return cell === kEmpty ? '' : (data.contexts.name[shown.tile.names[cell & ~kBelow] ?? 0] ?? '');
    });
    return JSON.stringify(cells);
  };
  return (
    <div
      class="depthview"
      style={{ height: `${Math.min(8, lanes) * kLane + 2}px` }}
      onWheel={(event) => {
        const most = Math.max(0, lanes * kLane - height);
        if (event.ctrlKey || event.metaKey) {
          const box = canvas!.getBoundingClientRect();
          const ns = from + ((to - from) * (event.clientX - box.left - kNames)) / Math.max(1, box.width - kNames);
          const factor = Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY / 300)));
          p.zoomTo(ns - (ns - from) * factor, ns + (to - ns) * factor);
        } else setScroll(Math.max(0, Math.min(most, scroll + event.deltaY)));
        event.preventDefault();
      }}
    >
      <canvas
        ref={attach}
        class="canvas"
        role="img"
        aria-label={`call stack of ${data.rows.name[p.location] || data.rows.label[p.location]}`}
        data-lanes={lanes}
        data-stack={stack()}
        onClick={(event) => {
          const box = canvas!.getBoundingClientRect();
          p.pick(from + ((to - from) * (event.clientX - box.left - kNames)) / Math.max(1, box.width - kNames));
        }}
      />
    </div>
  );
}
