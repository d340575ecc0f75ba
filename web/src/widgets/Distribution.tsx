// The selected node over locations: by rank, sorted, or as a histogram. Bars that are picked choose locations.
import { useState } from 'preact/hooks';
import { csvOf, download, fileName } from '../data/export';
import { percent, readable, toNumber } from '../data/format';
import { figuresOf, histogram } from '../data/spread';
import type { Locations, Spread } from '../data/types';
import { useAsk } from '../state/ask';
import { shapeQuery } from '../state/shape';
import { change, changeExtra, extra, parseRanges, rangesOf, state } from '../state/state';
import { PictureButtons } from './SaveButtons';
import { themeColour, useCanvas } from './useCanvas';
import { Failed } from './Failed';

type Mode = 'rank' | 'sorted' | 'histogram';

export function Distribution({ metric, context, name }: { metric: string; context: number; name: string[] }) {
  const s = state.value;
  const mode = (extra('dm') || 'rank') as Mode;
  const [under, setUnder] = useState(-1);
  const asked = useAsk<Spread>(`${s.dataset}/spread`, { metric, context, ...shapeQuery() });
  const names = useAsk<Locations>(`${s.dataset}/locations`);
  const values = (asked.data ? (s.values === 'exclusive' ? asked.data.exclusive : asked.data.inclusive) : []).map(
    toNumber,
  );
  const figures = figuresOf(values);
  const chosen = new Set(parseRanges(s.locations));
  // Each bar stands for some locations.
  const bars: { members: number[]; value: number }[] =
    mode === 'histogram'
      ? histogram(values, Math.min(50, Math.max(5, Math.ceil(Math.sqrt(values.length))))).map((b) => ({
          members: b.members,
          value: b.members.length,
        }))
      : values.map((value, i) => ({ members: [i], value }));
  if (mode === 'sorted') bars.sort((a, b) => b.value - a.value);
  const top = bars.reduce((most, b) => Math.max(most, b.value), 0) || 1;
  const unit = asked.data?.unit ?? '';
  const { canvas, attach } = useCanvas(
    ({ context: c, width, height }) => {
      const floor = height - 16;
      const ceiling = 8;
      const accent = themeColour('accent');
      const quiet = themeColour('quiet');
      const line = themeColour('line');
      const y = (v: number) => floor - (Math.max(0, v) / top) * (floor - ceiling);
      const step = width / Math.max(1, bars.length);
      bars.forEach((bar, i) => {
        c.globalAlpha = i === under ? 1 : !chosen.size || bar.members.some((m) => chosen.has(m)) ? 0.8 : 0.25;
        c.fillStyle = accent;
        c.fillRect(i * step, y(bar.value), Math.max(step - (step > 4 ? 1 : 0), 0.5), floor - y(bar.value));
      });
      c.globalAlpha = 1;
      c.strokeStyle = line;
      c.strokeRect(0, floor + 0.5, width, 0);
      c.font = `11px ${themeColour('font')}`;
      c.fillStyle = quiet;
      if (mode !== 'histogram' && values.length) {
        c.setLineDash([4, 3]);
        c.strokeStyle = quiet;
        c.beginPath();
        c.moveTo(0, y(figures.mean));
        c.lineTo(width, y(figures.mean));
        c.stroke();
        c.setLineDash([]);
        // Over a bar that does not reach it: elsewhere it would stand in front of one.
        const free = bars.map((bar) => bar.value <= figures.mean).lastIndexOf(true);
        const at = Math.min(width - 32, Math.max(0, free * step));
        c.fillText('mean', at, y(figures.mean) - 3);
      }
      c.textBaseline = 'bottom';
      const label =
        mode === 'histogram'
          ? [readable(figures.minimum, unit), readable(figures.maximum, unit)]
          : mode === 'rank'
            ? [names.data?.label[0] ?? '0', names.data?.label[values.length - 1] ?? '']
            : ['most', 'least'];
      c.fillText(label[0] ?? '', 2, height);
      c.textAlign = 'right';
      c.fillText(label[1] ?? '', width - 2, height);
      c.textAlign = 'left';
    },
    [asked.data, mode, under, s.locations, s.values, names.data, document.documentElement.dataset['theme']],
  );
  const at = (event: MouseEvent) => {
    const box = canvas!.getBoundingClientRect();
    return Math.floor(((event.clientX - box.left) / box.width) * bars.length);
  };
  const pick = (event: MouseEvent) => {
    const members = bars[at(event)]?.members ?? [];
    const next = event.ctrlKey || event.metaKey || event.shiftKey ? new Set(chosen) : new Set<number>();
    for (const m of members) next.has(m) ? next.delete(m) : next.add(m);
    change({ locations: rangesOf([...next]) });
  };
  const bar = bars[under];
  return (
    <>
      <div class="bar">
        {(['rank', 'sorted', 'histogram'] as Mode[]).map((m) => (
          <button key={m} aria-pressed={mode === m} onClick={() => changeExtra({ dm: m === 'rank' ? '' : m }, false)}>
            {m === 'rank' ? 'by rank' : m}
          </button>
        ))}
        <span class="spacer" />
        <button
          onClick={() =>
            download(
              fileName(name, 'csv'),
              csvOf(
                ['location', 'name', metric],
                values.map((v, i) => [names.data?.label[i] ?? String(i), names.data?.name[i] ?? '', v]),
              ),
              'text/csv',
            )
          }
        >
          CSV
        </button>
        <PictureButtons canvas={canvas} name={name} />
      </div>
      {asked.failure ? <Failed failure={asked.failure} again={asked.again} /> : null}
      <div class="stage" style={{ margin: '4px 8px' }}>
        <canvas
          ref={attach}
          class="canvas"
          tabIndex={0}
          role="img"
          aria-label={`distribution over ${values.length} locations`}
          onMouseMove={(event) => setUnder(at(event))}
          onMouseLeave={() => setUnder(-1)}
          onClick={pick}
        />
      </div>
      <div
        class="detail number figures"
        style={{ textAlign: 'left' }}
        aria-live="polite"
        data-mean={figures.mean}
        data-maximum={figures.maximum}
        data-minimum={figures.minimum}
      >
        {bar && mode !== 'histogram'
          ? `${names.data?.label[bar.members[0] ?? 0] ?? ''} ${names.data?.name[bar.members[0] ?? 0] ?? ''}: ${readable(bar.value, unit)} (${percent(bar.value, figures.sum)})`
          : bar
            ? `${bar.members.length} locations`
            : [
                `mean ${readable(figures.mean, unit)} ± ${readable(figures.deviation, unit)}`,
                `min ${readable(figures.minimum, unit)}`,
                `max ${readable(figures.maximum, unit)}`,
                `imbalance ${percent(figures.imbalance, 1)}`,
                `quartiles ${figures.quartiles.map((q) => readable(q, unit)).join(' · ')}`,
              ].map((text) => <span key={text}>{text}</span>)}
      </div>
    </>
  );
}
