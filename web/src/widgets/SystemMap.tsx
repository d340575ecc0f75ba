// The selected node's value on the machine: cells by system tree, or on a Cartesian topology with slices.
import { useMemo, useState } from 'preact/hooks';
import { readable, toNumber } from '../data/format';
import type { Locations, Spread, Topologies } from '../data/types';
import { heatColour } from '../theme/heat';
import { useAsk } from '../state/ask';
import { shapeQuery } from '../state/shape';
import { change, changeExtra, extra, parseRanges, rangesOf, state } from '../state/state';
import { Failed } from './Failed';
import { PictureButtons } from './SaveButtons';
import { themeColour, useCanvas } from './useCanvas';

interface Cell {
  x: number;
  y: number;
  w: number;
  h: number;
  title: string;
  locations: number[];
}
interface Frame {
  x: number;
  y: number;
  w: number;
  h: number;
  title: string;
}

// Nodes side by side, each a grid of its locations.
function systemCells(names: Locations): { cells: Cell[]; frames: Frame[]; width: number; height: number } {
  const groups = new Map<string, number[]>();
  names.label.forEach((_, i) => {
    const key = names.node[i] || names.process[i] || '';
    groups.set(key, [...(groups.get(key) ?? []), i]);
  });
  const list = [...groups];
  const largest = Math.max(1, ...list.map(([, members]) => members.length));
  const inside = largest <= 4 ? largest : Math.ceil(Math.sqrt(largest * 2));
  const tall = Math.ceil(largest / inside);
  const across = Math.max(1, Math.ceil(Math.sqrt((list.length * (tall + 1.2) * 2) / inside)));
  const cells: Cell[] = [];
  const frames: Frame[] = [];
  list.forEach(([title, members], g) => {
    const x = (g % across) * (inside + 0.5);
    const y = Math.floor(g / across) * (tall + 1.2);
    frames.push({ x, y, w: inside, h: tall + 0.9, title });
    members.forEach((m, i) =>
      cells.push({
        x: x + (i % inside),
        y: y + 0.9 + Math.floor(i / inside),
        w: 1,
        h: 1,
        title: [names.node[m], names.process[m], names.name[m]].filter(Boolean).join(' › '),
        locations: [m],
      }),
    );
  });
  return {
    cells,
    frames,
    width: Math.min(list.length, across) * (inside + 0.5),
    height: Math.ceil(list.length / across) * (tall + 1.2),
  };
}

export function SystemMap(props: { metric: string; context: number; topology: boolean; name: string[] }) {
  const s = state.value;
  const { metric, context } = props;
  const asked = useAsk<Spread>(`${s.dataset}/spread`, { metric, context, ...shapeQuery() });
  const names = useAsk<Locations>(`${s.dataset}/locations`);
  const topologies = useAsk<Topologies>(props.topology ? `${s.dataset}/topologies` : null);
  const [which, setWhich] = useState(0);
  const [axes, setAxes] = useState<[number, number]>([0, 1]);
  const [slice, setSlice] = useState<number[]>([]);
  const [under, setUnder] = useState<Cell | null>(null);
  const values = (asked.data ? (s.values === 'exclusive' ? asked.data.exclusive : asked.data.inclusive) : []).map(
    toNumber,
  );
  const topology = topologies.data?.topologies[which];
  const chosen = new Set(parseRanges(s.locations));
  const map = useMemo(() => {
    if (!names.data) return null;
    if (!props.topology) return systemCells(names.data);
    if (!topology) return null;
    const [ax, ay] = axes;
    const cells = topology.cells
      .filter((c) => c.at.every((v, d) => d === ax || d === ay || v === (slice[d] ?? 0)))
      .map((c) => ({
        x: c.at[ax] ?? 0,
        y: topology.dimensions.length > 1 ? (c.at[ay] ?? 0) : 0,
        w: 1,
        h: 1,
        title: `${topology.dimensions.map((d, i) => `${d.name || 'xyzuvw'[i]} ${c.at[i]}`).join(', ')}`,
        locations: c.locations,
      }));
    return {
      cells,
      frames: [],
      width: topology.dimensions[ax]?.size ?? 1,
      height: topology.dimensions.length > 1 ? (topology.dimensions[ay]?.size ?? 1) : 1,
    };
  }, [names.data, topology, axes.join(), slice.join(), props.topology]);
  const valueOf = (cell: Cell) => cell.locations.reduce((sum, l) => sum + (values[l] ?? 0), 0);
  const shown = map?.cells.map(valueOf) ?? [];
  const low = Math.min(...shown, Infinity);
  const high = Math.max(...shown, -Infinity);
  const unit = asked.data?.unit ?? '';
  const stretched = extra('heat') === 'stretched';
  const shareOf = (v: number) =>
    stretched ? (high > low ? (v - low) / (high - low) : 0) : high > 0 ? Math.max(0, v) / high : 0;
  const scaleFor = (width: number, height: number) =>
    map ? Math.min(64, width / Math.max(1, map.width), height / Math.max(1, map.height)) : 1;
  const { canvas, attach, width, height } = useCanvas(
    ({ context: c, width: w, height: h }) => {
      if (!map) return;
      const size = scaleFor(w, h);
      c.font = `11px ${themeColour('font')}`;
      c.textBaseline = 'middle';
      for (const frame of map.frames) {
        if (size < 9) continue;
        c.fillStyle = themeColour('quiet');
        const text =
          frame.title.length * 6 > frame.w * size
            ? `${frame.title.slice(0, Math.floor((frame.w * size) / 6))}…`
            : frame.title;
        c.fillText(text, frame.x * size, (frame.y + 0.45) * size);
      }
      map.cells.forEach((cell, i) => {
        const faded = chosen.size > 0 && !cell.locations.some((l) => chosen.has(l));
        c.globalAlpha = faded ? 0.3 : 1;
        c.fillStyle = heatColour(shareOf(shown[i] ?? 0));
        const gap = size > 6 ? 1 : 0;
        c.fillRect(cell.x * size, cell.y * size, cell.w * size - gap, cell.h * size - gap);
      });
      c.globalAlpha = 1;
    },
    [map, asked.data, s.values, s.locations, stretched, document.documentElement.dataset['theme']],
  );
  const find = (event: MouseEvent): Cell | null => {
    const box = canvas!.getBoundingClientRect();
    const size = scaleFor(width, height);
    const x = (event.clientX - box.left) / size;
    const y = (event.clientY - box.top) / size;
    return map?.cells.find((c) => x >= c.x && x < c.x + c.w && y >= c.y && y < c.y + c.h) ?? null;
  };
  const failure = asked.failure ?? names.failure ?? topologies.failure;
  if (failure) return <Failed failure={failure} again={asked.again} />;
  if (props.topology && topologies.data && !topologies.data.topologies.length) {
    return (
      <div class="empty">
        This dataset has no Cartesian topology; “System” shows its locations by node. fathom topology adds one.
      </div>
    );
  }
  return (
    <>
      <div class="bar">
        {props.topology && topologies.data && topologies.data.topologies.length > 1 && (
          <select aria-label="topology" value={String(which)} onChange={(e) => setWhich(Number(e.currentTarget.value))}>
            {topologies.data.topologies.map((t, i) => (
              <option key={i} value={String(i)}>
                {t.name || `topology ${i}`}
              </option>
            ))}
          </select>
        )}
        {topology &&
          topology.dimensions.length > 2 &&
          topology.dimensions.map((d, i) => (
            <label key={i} class="quiet">
              {d.name || 'xyzuvw'[i]}{' '}
              {axes.includes(i) ? (
                <strong>{axes[0] === i ? '→' : '↓'}</strong>
              ) : (
                <>
                  <input
                    type="range"
                    min={0}
                    max={Math.max(0, d.size - 1)}
                    value={slice[i] ?? 0}
                    style={{ width: '72px' }}
                    onInput={(e) => {
                      const next = topology.dimensions.map((_, k) => slice[k] ?? 0);
                      next[i] = Number(e.currentTarget.value);
                      setSlice(next);
                    }}
                  />
                  {slice[i] ?? 0}
                  <button class="mini" title="show this axis" onClick={() => setAxes([axes[1], i])}>
                    ⤢
                  </button>
                </>
              )}
            </label>
          ))}
        <span class="scale">
          {readable(stretched && Number.isFinite(low) ? low : 0, unit)}
          <i class="ramp" />
          {readable(Number.isFinite(high) ? high : 0, unit)}
        </span>
        <button
          aria-pressed={stretched}
          title="colours from the least to the largest value instead of from zero"
          onClick={() => changeExtra({ heat: stretched ? '' : 'stretched' }, false)}
        >
          from the least
        </button>
        <span class="spacer" />
        <PictureButtons canvas={canvas} name={props.name} />
      </div>
      <div class="stage" style={{ margin: '8px' }}>
        <canvas
          ref={attach}
          class="canvas"
          role="img"
          tabIndex={0}
          aria-label={`${props.topology ? 'topology' : 'system'} of ${values.length} locations`}
          data-cells={map?.cells.length ?? 0}
          data-high={high}
          onMouseMove={(e) => setUnder(find(e))}
          onMouseLeave={() => setUnder(null)}
          onClick={(e) => {
            const cell = find(e);
            if (!cell) return change({ locations: '' });
            const next = e.ctrlKey || e.metaKey || e.shiftKey ? new Set(chosen) : new Set<number>();
            for (const l of cell.locations) next.add(l);
            change({ locations: rangesOf([...next]) });
          }}
        />
      </div>
      <div class="detail number" style={{ textAlign: 'left' }} aria-live="polite">
        {under
          ? `${under.title}: ${readable(valueOf(under), unit)}`
          : 'A click chooses locations, Ctrl+click adds some.'}
      </div>
    </>
  );
}
