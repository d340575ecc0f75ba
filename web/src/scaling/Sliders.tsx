// Where the models are looked at: a slider and a number for every parameter.
import type { Models } from '../data/types';

export function Sliders({ all, at, setPoint }: { all: Models; at: number[]; setPoint: (at: number[] | null) => void }) {
  const lowest = (i: number) =>
    all.models.reduce((least, m) => m.points.reduce((l, p) => Math.min(l, p[i] ?? 1), least), Infinity);
  const put = (i: number, value: number) => setPoint(at.map((v, k) => (k === i ? value : v)));
  return (
    <div class="sliders">
      {all.parameters.map((p, i) => (
        <label key={p}>
          {p}
          <input
            type="range"
            min={Math.log2(Math.max(1e-9, lowest(i)))}
            max={Math.log2((all.target[i] ?? 1) * 16)}
            step="any"
            style={{ width: '180px' }}
            value={Math.log2(at[i] ?? 1)}
            onInput={(e) => put(i, Number((2 ** Number(e.currentTarget.value)).toPrecision(3)))}
          />
          <input
            type="number"
            aria-label={`${p} at the target`}
            style={{ width: '96px' }}
            value={at[i]}
            onChange={(e) => put(i, Number(e.currentTarget.value))}
          />
        </label>
      ))}
      <button onClick={() => setPoint(null)}>Reset</button>
    </div>
  );
}
