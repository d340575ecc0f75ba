// How the time of the chosen rows is shared by functions, over time.
import { useState } from 'preact/hooks';
import { readable, timeText } from '../data/format';
import { useAsk } from '../state/ask';
import { colourOf, css } from '../theme/palette';
import { Failed } from '../widgets/Failed';
import { themeColour, useCanvas } from '../widgets/useCanvas';
import type { Query } from '../data/source';

export interface Shares {
  whole: boolean;
  quick: boolean;
  bin_ns: number;
  rows: number;
  functions: { name: string; region: number; sum_ns: number; ns: number[] }[];
  others_ns: number;
  others: number[];
  unknown?: number[];
}

export function SharesTab(p: {
  dataset: number;
  query: Query;
  from: number;
  to: number;
  theme: string;
  focus: (region: number) => void;
}) {
  const asked = useAsk<Shares>(`${p.dataset}/shares`, { ...p.query, bins: 400, top: 14 });
  const [under, setUnder] = useState(-1);
  const data = asked.data;
  const { canvas, attach } = useCanvas(
    ({ context: c, width: w, height: h }) => {
      if (!data) return;
      const bins = data.others.length;
      const whole = data.bin_ns * data.rows;
      const plot = h - 18;
      c.clearRect(0, 0, w, h);
      c.fillStyle = themeColour('stripe');
      c.fillRect(0, 0, w, plot);
      for (let b = 0; b < bins; ++b) {
        let y = plot;
        const piece = (value: number, colour: string) => {
          const part = (value / whole) * plot;
          c.fillStyle = colour;
          c.fillRect((w * b) / bins, y - part, w / bins + 0.6, part);
          y -= part;
        };
        for (const f of data.functions) piece(f.ns[b] ?? 0, css(colourOf(f.name)));
        piece(data.others[b] ?? 0, themeColour('line'));
        piece(data.unknown?.[b] ?? 0, themeColour('quiet'));
      }
      if (under >= 0) {
        c.fillStyle = themeColour('accent');
        c.fillRect((w * (under + 0.5)) / bins, 0, 1, plot);
      }
      c.fillStyle = themeColour('quiet');
      c.font = `11px ${themeColour('mono')}`;
      c.textBaseline = 'top';
      c.fillText(timeText(p.from, p.to - p.from), 2, plot + 4);
      const end = timeText(p.to, p.to - p.from);
      c.fillText(end, w - c.measureText(end).width - 2, plot + 4);
    },
    [data, under, p.theme],
  );
  if (asked.failure) return <Failed failure={asked.failure} again={asked.again} />;
  if (!data) return <div class="empty">Summing up…</div>;
  const whole = data.bin_ns * data.rows;
  return (
    <div class="split" style={{ gridTemplateColumns: 'minmax(0,1fr) 300px' }}>
      <div class="pane" style={{ padding: '8px' }}>
        <div class="stage">
          <canvas
            ref={attach}
            class="canvas"
            role="img"
            aria-label="shares of functions over time"
            data-bins={data.others.length}
            onMouseMove={(e) => {
              const box = canvas!.getBoundingClientRect();
              setUnder(Math.floor(((e.clientX - box.left) / box.width) * data.others.length));
            }}
            onMouseLeave={() => setUnder(-1)}
          />
        </div>
      </div>
      <div class="pane" style={{ overflow: 'auto' }}>
        <table class="plain legend">
          <tbody>
            {data.functions.map((f) => (
              <tr
                key={f.name}
                onClick={() => f.region >= 0 && p.focus(f.region)}
                data-share={f.name}
                data-value={f.sum_ns}
              >
                <td class="cut" style={{ maxWidth: '170px' }} title={f.name}>
                  <span class="swatch" style={{ background: css(colourOf(f.name)) }} />
                  {f.name}
                </td>
                <td class="number">
                  {under >= 0 ? `${((100 * (f.ns[under] ?? 0)) / whole).toFixed(1)}%` : readable(f.sum_ns / 1e9, 's')}
                </td>
              </tr>
            ))}
            {data.others_ns > 0 && (
              <tr>
                <td class="quiet">others</td>
                <td class="number">{readable(data.others_ns / 1e9, 's')}</td>
              </tr>
            )}
          </tbody>
        </table>
        {(data.unknown || !data.whole) && (
          <p class="quiet" style={{ padding: '0 8px' }}>
            {data.whole
              ? 'Grey: known only to lie below a caller that has several callees, as wide as its bin.'
              : 'The trace is still being read.'}
          </p>
        )}
      </div>
    </div>
  );
}
