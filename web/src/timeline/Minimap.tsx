// The whole trace in a strip: what all rows did together, and which part of it is shown. The part can be dragged.
import { useRef } from 'preact/hooks';
import { useAsk } from '../state/ask';
import { colourOf, css } from '../theme/palette';
import { themeColour, useCanvas } from '../widgets/useCanvas';
import { kNames } from './frame';
import type { Shares } from './SharesTab';

interface Props {
  dataset: number;
  channel: number;
  version: number;
  rough: boolean; // large, or not whole yet: from nodes alone
  span: number;
  from: number;
  to: number;
  theme: string;
  zoomTo: (from: number, to: number) => void;
}

export function Minimap({ dataset, channel, version, rough, span, from, to, theme, zoomTo }: Props) {
  const asked = useAsk<Shares>(`${dataset}/shares`, {
    channel,
    bins: 320,
    top: 10,
    quick: rough ? 1 : undefined,
    v: version,
  });
  const grip = useRef<{ ns: number; from: number; to: number; edge: -1 | 0 | 1 } | null>(null);
  const { canvas, attach } = useCanvas(
    ({ context: c, width: w, height: h }) => {
      c.fillStyle = themeColour('stripe');
      c.fillRect(0, 0, w, h);
      const x = (ns: number) => kNames + ((w - kNames) * ns) / span;
      const data = asked.data;
      if (data) {
        const bins = data.functions[0]?.ns.length ?? 0;
        const whole = data.bin_ns * data.rows;
        for (let b = 0; b < bins; ++b) {
          let y = h;
          for (const f of data.functions) {
            const part = ((f.ns[b] ?? 0) / whole) * h;
            c.fillStyle = css(colourOf(f.name));
            c.fillRect(x(b * data.bin_ns), y - part, (w - kNames) / bins + 0.5, part);
            y -= part;
          }
        }
      }
      c.fillStyle = themeColour('background');
      c.globalAlpha = 0.65;
      c.fillRect(kNames, 0, x(from) - kNames, h);
      c.fillRect(x(to), 0, w - x(to), h);
      c.globalAlpha = 1;
      c.strokeStyle = themeColour('accent');
      c.strokeRect(x(from) + 0.5, 0.5, Math.max(2, x(to) - x(from) - 1), h - 1);
      c.fillStyle = themeColour('background');
      c.fillRect(0, 0, kNames - 1, h);
      c.fillStyle = themeColour('quiet');
      c.font = `11px ${themeColour('font')}`;
      c.textBaseline = 'middle';
      c.fillText('all rows together', 8, h / 2);
    },
    [asked.data, from, to, span, theme],
  );
  const at = (event: MouseEvent) => {
    const box = canvas!.getBoundingClientRect();
    return {
      ns: (span * (event.clientX - box.left - kNames)) / Math.max(1, box.width - kNames),
      perPixel: span / Math.max(1, box.width - kNames),
    };
  };
  return (
    <div class="minimap">
      <canvas
        ref={attach}
        class="canvas"
        role="slider"
        tabIndex={0}
        aria-label="shown part of the trace"
        aria-valuemin={0}
        aria-valuemax={span}
        aria-valuenow={from}
        onMouseDown={(event) => {
          const { ns, perPixel } = at(event);
          const near = (edge: number) => Math.abs(ns - edge) < 5 * perPixel;
          const edge = near(from) ? -1 : near(to) ? 1 : 0;
          // Outside of the part: it comes here.
          if (!edge && (ns < from || ns > to)) zoomTo(ns - (to - from) / 2, ns + (to - from) / 2);
          grip.current = {
            ns,
            from: !edge && (ns < from || ns > to) ? ns - (to - from) / 2 : from,
            to: !edge && (ns < from || ns > to) ? ns + (to - from) / 2 : to,
            edge,
          };
        }}
        onMouseMove={(event) => {
          const g = grip.current;
          if (!g || !event.buttons) return;
          const moved = at(event).ns - g.ns;
          if (g.edge < 0) zoomTo(Math.min(g.from + moved, g.to - 8), g.to);
          else if (g.edge > 0) zoomTo(g.from, Math.max(g.to + moved, g.from + 8));
          else zoomTo(g.from + moved, g.to + moved);
        }}
        onMouseUp={() => (grip.current = null)}
      />
    </div>
  );
}
