// One model over two parameters: colour by value, lines of equal value, and where it was measured.
import { useState } from 'preact/hooks';
import { readable } from '../data/format';
import { evaluate } from '../data/model';
import type { Model, Models } from '../data/types';
import { heatColour } from '../theme/heat';
import { PictureButtons } from './SaveButtons';
import { themeColour, useCanvas } from './useCanvas';

const kCells = 60;

export function ModelHeat(props: { model: Model; all: Models; axes: [number, number]; at: number[]; name: string[] }) {
  const { model, all, axes, at } = props;
  const [under, setUnder] = useState('');
  const unit = model.unit || (/time/i.test(model.metric) ? 's' : '');
  const ranges = axes.map((axis) => {
    const measured = all.models.flatMap((m) => m.points.map((p) => p[axis] ?? 1)).filter((v) => v > 0);
    const low = measured.reduce((least, v) => Math.min(least, v), Infinity);
    return [
      low,
      Math.max(
        at[axis] ?? 1,
        measured.reduce((most, v) => Math.max(most, v), low * 2),
      ),
    ] as const;
  });
  const along = (axis: 0 | 1, share: number) => ranges[axis]![0] * (ranges[axis]![1] / ranges[axis]![0]) ** share;
  const value = (x: number, y: number) => {
    const point = [...at];
    point[axes[0]] = along(0, x);
    point[axes[1]] = along(1, y);
    return evaluate(model, all.parameters, point);
  };
  const frame = (width: number, height: number) => ({ left: 64, top: 12, right: width - 16, bottom: height - 34 });
  const { canvas, attach, width, height } = useCanvas(
    ({ context: c, width: w, height: h }) => {
      const f = frame(w, h);
      const grid = Array.from({ length: kCells + 1 }, (_, j) =>
        Array.from({ length: kCells + 1 }, (_, i) => value(i / kCells, j / kCells)),
      );
      const positive = grid.flat().filter((v) => v > 0);
      const low = positive.reduce((least, v) => Math.min(least, v), Infinity);
      const high = positive.reduce((most, v) => Math.max(most, v), -Infinity);
      const logarithmic = high / low > 100;
      const share = (v: number) =>
        high <= low
          ? 0.5
          : logarithmic
            ? Math.log(Math.max(v, low) / low) / Math.log(high / low)
            : (v - low) / (high - low);
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
        const level = logarithmic ? low * (high / low) ** (k / 8) : low + ((high - low) * k) / 8;
        c.beginPath();
        for (let j = 0; j < kCells; ++j)
          for (let i = 0; i < kCells; ++i) {
            const corner: [number, number, number][] = [
              [i, j, grid[j]![i]!],
              [i + 1, j, grid[j]![i + 1]!],
              [i + 1, j + 1, grid[j + 1]![i + 1]!],
              [i, j + 1, grid[j + 1]![i]!],
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
      c.fillText(all.parameters[axes[1]] ?? '', f.left - 6, f.top - 4);
      c.strokeStyle = themeColour('background');
      c.fillStyle = '#F97300';
      const shareOf = (axis: 0 | 1, v: number) =>
        Math.log(v / ranges[axis]![0]) / Math.log(ranges[axis]![1] / ranges[axis]![0]);
      for (const p of model.points) {
        c.beginPath();
        c.arc(px(shareOf(0, p[axes[0]] ?? 1)), py(shareOf(1, p[axes[1]] ?? 1)), 3.5, 0, 7);
        c.fill();
        c.stroke();
      }
    },
    [model, axes.join(), at.join(), document.documentElement.dataset['theme']],
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
