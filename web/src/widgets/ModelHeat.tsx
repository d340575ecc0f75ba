// One model over two parameters: colour by value, lines of equal value, and where it was measured.
import { useState } from 'preact/hooks';
import { readable } from '../data/format';
import { modelGrid } from '../data/model_grid';
import type { Model, Models } from '../data/types';
import { heatColour } from '../theme/heat';
import { PictureButtons } from './SaveButtons';
import { themeColour, useCanvas } from './useCanvas';

const kCells = 60;

export interface ModelPicture {
  model: Model;
  all: Models;
  axes: [number, number];
  at: number[];
  advised: number[][]; // points that are worth measuring
  name: string[];
}

export function ModelHeat(props: ModelPicture) {
  const { model, all, axes, at } = props;
  const [under, setUnder] = useState('');
  const unit = model.unit || (/time/i.test(model.metric) ? 's' : '');
  const grid = modelGrid(model, all, axes, at, kCells);
  const { along, shareOf, value, height: share } = grid;
  const frame = (width: number, height: number) => ({ left: 64, top: 40, right: width - 16, bottom: height - 34 });
  const { canvas, attach, width, height } = useCanvas(
    ({ context: c, width: w, height: h }) => {
      const f = frame(w, h);
      const px = (s: number) => f.left + s * (f.right - f.left);
      const py = (s: number) => f.bottom - s * (f.bottom - f.top);
      const size = [(f.right - f.left) / kCells, (f.bottom - f.top) / kCells];
      for (let j = 0; j < kCells; ++j)
        for (let i = 0; i < kCells; ++i) {
          c.fillStyle = heatColour(share(value((i + 0.5) / kCells, (j + 0.5) / kCells)));
          c.fillRect(px(i / kCells), py((j + 1) / kCells), size[0]! + 0.6, size[1]! + 0.6);
        }
      // Lines of equal value, cell by cell.
      c.strokeStyle = themeColour('text');
      c.globalAlpha = 0.5;
      c.lineWidth = 1;
      for (let k = 1; k < 8; ++k) {
        const level = grid.level(k / 8);
        c.beginPath();
        for (let j = 0; j < kCells; ++j)
          for (let i = 0; i < kCells; ++i) {
            const corner: [number, number, number][] = [
              [i, j, grid.cells[j]![i]!],
              [i + 1, j, grid.cells[j]![i + 1]!],
              [i + 1, j + 1, grid.cells[j + 1]![i + 1]!],
              [i, j + 1, grid.cells[j + 1]![i]!],
            ];
            const cuts: [number, number][] = [];
            corner.forEach(([x, y, v], e) => {
              const [x2, y2, v2] = corner[(e + 1) % 4]!;
              if (v < level === v2 < level) return;
              const part = (level - v) / (v2 - v);
              cuts.push([(x + (x2 - x) * part) / kCells, (y + (y2 - y) * part) / kCells]);
            });
            if (cuts.length < 2) continue;
            c.moveTo(px(cuts[0]![0]), py(cuts[0]![1]));
            c.lineTo(px(cuts[1]![0]), py(cuts[1]![1]));
          }
        c.stroke();
      }
      c.globalAlpha = 1;
      c.font = `11px ${themeColour('font')}`;
      c.fillStyle = themeColour('quiet');
      c.textAlign = 'center';
      for (let k = 0; k <= 4; ++k) {
        c.fillText(Number(along(0, k / 4).toPrecision(3)).toLocaleString('en'), px(k / 4), f.bottom + 14);
      }
      c.fillText(all.parameters[axes[0]] ?? '', (f.left + f.right) / 2, h - 4);
      c.textAlign = 'right';
      c.textBaseline = 'middle';
      for (let k = 0; k <= 4; ++k) {
        c.fillText(Number(along(1, k / 4).toPrecision(3)).toLocaleString('en'), f.left - 6, py(k / 4));
      }
      c.fillText(all.parameters[axes[1]] ?? '', f.left - 6, f.top - 14);
      c.strokeStyle = themeColour('background');
      c.fillStyle = '#F97300';
      for (const p of model.points) {
        c.beginPath();
        c.arc(px(shareOf(0, p[axes[0]] ?? 1)), py(shareOf(1, p[axes[1]] ?? 1)), 3.5, 0, 7);
        c.fill();
        c.stroke();
      }
      // What to measure next: squares that are not filled yet.
      c.strokeStyle = '#F97300';
      c.lineWidth = 2;
      for (const p of props.advised) {
        const [x, y] = [px(shareOf(0, p[axes[0]] ?? 1)), py(shareOf(1, p[axes[1]] ?? 1))];
        c.strokeRect(x - 4, y - 4, 8, 8);
      }
    },
    [model, props.advised, axes.join(), at.join(), document.documentElement.dataset['theme']],
  );
  return (
    <>
      <canvas
        ref={attach}
        class="canvas"
        role="img"
        data-heat={value(1, 1)}
        aria-label={`${model.callpath} over ${all.parameters[axes[0]]} and ${all.parameters[axes[1]]}`}
        onMouseMove={(e) => {
          const box = canvas!.getBoundingClientRect();
          const f = frame(width, height);
          const x = (e.clientX - box.left - f.left) / (f.right - f.left);
          const y = (f.bottom - (e.clientY - box.top)) / (f.bottom - f.top);
          const inside = x >= 0 && x <= 1 && y >= 0 && y <= 1;
          setUnder(
            inside
              ? `${axes.map((a, k) => `${all.parameters[a]} = ${Number(along(k as 0 | 1, k ? y : x).toPrecision(3))}`).join(', ')}: ${readable(value(x, y), unit)}`
              : '',
          );
        }}
        onMouseLeave={() => setUnder('')}
      />
      <span class="corner">
        <span class="number">{under}</span> <PictureButtons canvas={canvas} name={props.name} />
      </span>
    </>
  );
}
