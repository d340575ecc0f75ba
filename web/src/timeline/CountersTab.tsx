// Counters over time: an area per row with least, most and mean of each pixel, or all rows as a heat map.
import { useState } from 'preact/hooks';
import { readable, timeText } from '../data/format';
import { ramp } from '../data/colours';
import { useAsk } from '../state/ask';
import { css } from '../theme/palette';
import { Failed } from '../widgets/Failed';
import { themeColour, useCanvas } from '../widgets/useCanvas';
import { cut, kNames } from './frame';
import type { Query } from '../data/source';

interface Line {
  row: number;
  least: (number | null)[];
  most: (number | null)[];
  mean: (number | null)[];
  last: (number | null)[];
}
export interface Counters {
  metrics: { id: number; name: string; unit: string; readings: number }[];
  lines?: Line[];
  left_out?: number;
}

export function CountersTab(p: {
  dataset: number;
  query: Query;
  from: number;
  to: number;
  theme: string;
  rowName: (row: number) => string;
  metric: number;
  choose: (metric: number) => void;
}) {
  const [heat, setHeat] = useState(false);
  const [rate, setRate] = useState(false);
  const [scroll, setScroll] = useState(0);
  const [under, setUnder] = useState('');
  const list = useAsk<Counters>(`${p.dataset}/counters`, {});
  const metrics = list.data?.metrics ?? [];
  const chosen = metrics.find((m) => m.id === p.metric) ?? metrics[0];
  const asked = useAsk<Counters>(chosen ? `${p.dataset}/counters` : null, {
    ...p.query,
    metric: chosen?.id,
    bins: 400,
  });
  const lines = asked.data?.lines ?? [];
  const bins = lines[0]?.mean.length ?? 1;
  const second = (p.to - p.from) / bins / 1e9;
  // Of counters that only grow the change per second says more than the value.
  const shown = (line: Line, i: number): number | null => {
    if (!rate) return line.mean[i] ?? null;
    const here = line.last[i] ?? null;
    let before = i - 1;
    while (before >= 0 && line.last[before] === null) --before;
    const there = before >= 0 ? line.last[before]! : (line.least[i] ?? null);
    return here === null || there === null ? null : (here - there) / (second * Math.max(1, i - before));
  };
  const unit = (chosen?.unit ?? '') + (rate ? '/s' : '');
  const rowHeight = heat ? Math.max(3, Math.min(16, 400 / Math.max(1, lines.length))) : 44;
  const { canvas, attach, width, height } = useCanvas(
    ({ context: c, width: w, height: h }) => {
      c.clearRect(0, 0, w, h);
      let low = Infinity;
      let high = -Infinity;
      for (const line of lines)
        for (let i = 0; i < bins; ++i) {
          const v = shown(line, i);
          if (v === null) continue;
          low = Math.min(low, rate ? v : (line.least[i] ?? v));
          high = Math.max(high, rate ? v : (line.most[i] ?? v));
        }
      if (!(high >= low)) return;
      low = Math.min(0, low);
      const plot = w - kNames;
      const part = (v: number) => (high > low ? (v - low) / (high - low) : 0.5);
      lines.forEach((line, l) => {
        const y = l * rowHeight - scroll;
        if (y + rowHeight < 0 || y > h) return;
        c.fillStyle = themeColour('text');
        c.font = `11px ${themeColour('font')}`;
        c.textBaseline = 'middle';
        if (rowHeight >= 11 || l % Math.ceil(12 / rowHeight) === 0)
          c.fillText(cut(c, p.rowName(line.row), kNames - 16), 8, y + rowHeight / 2);
        for (let i = 0; i < bins; ++i) {
          const v = shown(line, i);
          if (v === null) continue;
          const x = kNames + (plot * i) / bins;
          const wide = plot / bins + 0.5;
          if (heat) {
            c.fillStyle = css(ramp(part(v)));
            c.fillRect(x, y, wide, rowHeight - (rowHeight > 5 ? 1 : 0));
            continue;
          }
          const tall = rowHeight - 6;
          const top = (value: number) => y + 2 + tall * (1 - part(value));
          c.fillStyle = themeColour('accent');
          c.globalAlpha = 0.25;
          c.fillRect(x, top(v), wide, y + 2 + tall - top(v));
          if (!rate) {
            c.globalAlpha = 0.35;
            c.fillRect(x, top(line.most[i]!), wide, Math.max(1, top(line.least[i]!) - top(line.most[i]!)));
          }
          c.globalAlpha = 1;
          c.fillRect(x, top(v), wide, 1.5);
        }
        c.fillStyle = themeColour('line');
        if (!heat) c.fillRect(0, y + rowHeight - 1, w, 1);
      });
      c.font = `11px ${themeColour('mono')}`;
      c.textBaseline = 'top';
      const text = `${readable(low, unit)} … ${readable(high, unit)}`;
      const wide = c.measureText(text).width;
      c.fillStyle = themeColour('background');
      c.fillRect(w - wide - 10, 1, wide + 10, 15);
      c.fillStyle = themeColour('quiet');
      c.fillText(text, w - wide - 6, 3);
    },
    [asked.data, heat, rate, scroll, p.theme],
  );
  const failure = list.failure ?? asked.failure;
  if (failure) return <Failed failure={failure} again={asked.again} />;
  if (!list.data) return <div class="empty">Reading counters…</div>;
  if (!metrics.length) return <div class="empty">No counters: this trace has no readings of metrics over time.</div>;
  return (
    <>
      <div class="bar">
        <select
          aria-label="counter"
          value={String(chosen?.id)}
          onChange={(e) => p.choose(Number(e.currentTarget.value))}
        >
          {metrics.map((m) => (
            <option key={m.id} value={String(m.id)}>
              {m.name}
              {m.unit ? ` (${m.unit})` : ''}
            </option>
          ))}
        </select>
        <button aria-pressed={rate} onClick={() => setRate(!rate)} title="change per second instead of the value">
          rate
        </button>
        <button aria-pressed={heat} onClick={() => setHeat(!heat)} title="all rows as colours">
          heat map
        </button>
        <span class="quiet" data-readings={chosen?.readings}>
          {under || `${chosen?.readings.toLocaleString('en')} readings in ${lines.length} rows`}
          {asked.data?.left_out ? `, ${asked.data.left_out} rows left out` : ''}
        </span>
      </div>
      <div
        class="stage"
        onWheel={(e) => {
          setScroll(Math.max(0, Math.min(Math.max(0, lines.length * rowHeight - height), scroll + e.deltaY)));
          e.preventDefault();
        }}
      >
        <canvas
          ref={attach}
          class="canvas"
          role="img"
          aria-label={`counter ${chosen?.name} over time`}
          data-first={JSON.stringify(
            lines[0] ? { row: lines[0].row, most: lines[0].most, least: lines[0].least } : null,
          )}
          onMouseMove={(e) => {
            const box = canvas!.getBoundingClientRect();
            const i = Math.floor(((e.clientX - box.left - kNames) / (width - kNames)) * bins);
            const line = lines[Math.floor((e.clientY - box.top + scroll) / rowHeight)];
            if (!line || i < 0 || i >= bins) return setUnder('');
            const v = shown(line, i);
            const when = timeText(p.from + ((i + 0.5) * (p.to - p.from)) / bins, p.to - p.from);
            setUnder(
              v === null
                ? `${p.rowName(line.row)}, ${when}: no reading`
                : `${p.rowName(line.row)}, ${when}: ${readable(v, unit)}${rate ? '' : ` (${readable(line.least[i]!, unit)} to ${readable(line.most[i]!, unit)})`}`,
            );
          }}
          onMouseLeave={() => setUnder('')}
        />
      </div>
    </>
  );
}
