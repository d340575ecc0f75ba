// One model over two parameters as a surface that can be turned.
import { useRef, useState } from 'preact/hooks';
import { readable } from '../data/format';
import { modelGrid } from '../data/model_grid';
import { heatColour } from '../theme/heat';
import type { ModelPicture } from './ModelHeat';
import { PictureButtons } from './SaveButtons';
import { themeColour, useCanvas } from './useCanvas';

const kCells = 28;

type Point = [number, number];

export function ModelSurface(props: ModelPicture) {
  const { model, all, axes, at } = props;
  const [turn, setTurn] = useState(0.87); // round the upright axis
  const [tilt, setTilt] = useState(0.5);
  const grip = useRef<{ x: number; y: number; turn: number; tilt: number } | null>(null);
  const unit = model.unit || (/time/i.test(model.metric) ? 's' : '');
  const grid = modelGrid(model, all, axes, at, kCells);
  const number = (v: number) => Number(v.toPrecision(3)).toLocaleString('en');

  const { canvas, attach, width } = useCanvas(
    ({ context: c, width: w, height: h }) => {
      const size = Math.min(w, h) * 0.62;
      // Shares of the axes and of the height, all 0 to 1, onto the canvas; the third number is the distance.
      const place = (x: number, y: number, z: number): [number, number, number] => {
        const [a, b] = [x - 0.5, y - 0.5];
        const across = a * Math.cos(turn) - b * Math.sin(turn);
        const away = a * Math.sin(turn) + b * Math.cos(turn);
        const up = (z - 0.5) * 0.8;
        return [
          w / 2 + across * size,
          h / 2 - (up * Math.cos(tilt) + away * Math.sin(tilt)) * size,
          away * Math.cos(tilt) - up * Math.sin(tilt),
        ];
      };
      const line = (a: Point | number[], b: Point | number[]) => {
        c.beginPath();
        c.moveTo(a[0]!, a[1]!);
        c.lineTo(b[0]!, b[1]!);
        c.stroke();
      };
      c.clearRect(0, 0, w, h);
      c.lineWidth = 1;
      c.strokeStyle = themeColour('line');
      const floor = [0, 1].flatMap((u) => [
        [place(0, u, 0), place(1, u, 0)],
        [place(u, 0, 0), place(u, 1, 0)],
      ]);
      for (const [a, b] of floor) line(a!, b!);
      // From the back to the front.
      const faces = [];
      for (let j = 0; j < kCells; ++j)
        for (let i = 0; i < kCells; ++i) {
          const corners = [
            [i, j],
            [i + 1, j],
            [i + 1, j + 1],
            [i, j + 1],
          ].map(([x, y]) => {
            const z = grid.height(grid.cells[y!]![x!]!);
            return { z, at: place(x! / kCells, y! / kCells, z) };
          });
          faces.push({
            corners,
            away: corners.reduce((t, p) => t + p.at[2], 0),
            height: corners.reduce((t, p) => t + p.z, 0) / 4,
          });
        }
      faces.sort((a, b) => b.away - a.away);
      c.strokeStyle = themeColour('background');
      c.lineWidth = 0.5;
      for (const face of faces) {
        c.fillStyle = heatColour(0.25 + 0.75 * face.height); // never the background's own
        c.beginPath();
        face.corners.forEach(({ at: [x, y] }, k) => (k ? c.lineTo(x, y) : c.moveTo(x, y)));
        c.closePath();
        c.fill();
        c.stroke();
      }
      // What was measured, and what to measure next; a line to the surface says how far off it is.
      c.lineWidth = 1;
      const dot = (p: number[], value: number | null, filled: boolean) => {
        const [x, y] = [grid.shareOf(0, p[axes[0]] ?? 1), grid.shareOf(1, p[axes[1]] ?? 1)];
        const on = place(x, y, grid.height(grid.value(x, y)));
        const there = value === null ? on : place(x, y, grid.height(value));
        c.strokeStyle = '#F97300';
        line(on, there);
        c.fillStyle = filled ? '#F97300' : themeColour('background');
        c.beginPath();
        c.arc(there[0], there[1], 3.5, 0, 7);
        c.fill();
        c.stroke();
      };
      model.points.forEach((p, i) => dot(p, Number(model.mean[i] ?? NaN) || null, true));
      for (const p of props.advised) dot(p, null, false);
      // Names and ends of the axes stand at the edges that are nearest.
      c.fillStyle = themeColour('quiet');
      c.font = `11px ${themeColour('font')}`;
      c.textBaseline = 'middle';
      const near = place(0.5, 0, 0)[2] < place(0.5, 1, 0)[2] ? 0 : 1;
      const side = place(0, 0.5, 0)[2] < place(1, 0.5, 0)[2] ? 0 : 1;
      const write = (text: string, [x, y]: number[], dy = 14) => {
        c.textAlign = 'center';
        c.fillText(text, x!, y! + dy);
      };
      for (const k of [0, 0.5, 1]) {
        const out = 0.06;
        write(
          k === 0.5 ? (all.parameters[axes[0]] ?? '') : number(grid.along(0, k)),
          place(k, near ? 1 + out : -out, 0),
        );
        write(
          k === 0.5 ? (all.parameters[axes[1]] ?? '') : number(grid.along(1, k)),
          place(side ? 1 + out : -out, k, 0),
        );
      }
      // Heights at the corner that is farthest to the left.
      const corners: Point[] = [
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 1],
      ];
      const left = corners.reduce((best, p) => (place(...p, 0)[0] < place(...best, 0)[0] ? p : best));
      c.strokeStyle = themeColour('line');
      line(place(...left, 0), place(...left, 1));
      c.textAlign = 'right';
      for (const share of [0, 0.5, 1]) {
        const [x, y] = place(...left, share);
        c.fillText(readable(grid.level(share), unit), x - 6, y);
      }
    },
    [model, props.advised, axes.join(), at.join(), turn, tilt, document.documentElement.dataset['theme']],
  );
  return (
    <>
      <canvas
        ref={attach}
        class="canvas"
        role="img"
        tabIndex={0}
        style={{ cursor: 'grab' }}
        data-surface={grid.value(1, 1)}
        data-turn={turn}
        aria-label={`surface of ${model.callpath} over ${all.parameters[axes[0]]} and ${all.parameters[axes[1]]}`}
        onMouseDown={(e) => (grip.current = { x: e.clientX, y: e.clientY, turn, tilt })}
        onMouseMove={(e) => {
          const g = grip.current;
          if (!g || !e.buttons) return;
          setTurn(g.turn + ((e.clientX - g.x) / Math.max(1, width)) * Math.PI);
          setTilt(Math.max(0.05, Math.min(1.4, g.tilt + (e.clientY - g.y) / 300)));
        }}
        onMouseUp={() => (grip.current = null)}
        onKeyDown={(e) => {
          if (e.key === 'ArrowLeft') setTurn(turn - 0.1);
          else if (e.key === 'ArrowRight') setTurn(turn + 0.1);
          else if (e.key === 'ArrowUp') setTilt(Math.min(1.4, tilt + 0.05));
          else if (e.key === 'ArrowDown') setTilt(Math.max(0.05, tilt - 0.05));
          else return;
          e.preventDefault();
        }}
      />
      <span class="corner">
        <span class="quiet">drag turns it</span> <PictureButtons canvas={canvas} name={props.name} />
      </span>
    </>
  );
}
