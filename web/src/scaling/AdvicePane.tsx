// What to measure next under a budget, as `fathom advise` has it.
import { useAsk } from '../state/ask';
import { changeExtra, extra } from '../state/state';
import type { Advice, Models } from '../data/types';

const kWhy: Record<string, string> = {
  base: 'some parameter has no line of five points yet',
  add: 'every parameter has its line; the cheapest further points',
  gpr: 'where the models are least sure for what it costs',
};

export function useAdvice(dataset: number, metric: string): { advice: Advice | null; failure: string } {
  const budget = extra('budget');
  const asked = useAsk<Advice>(budget && metric ? `${dataset}/advice` : null, {
    budget,
    metric,
    process: extra('process'),
  });
  return { advice: budget ? asked.data : null, failure: budget ? (asked.failure?.message ?? '') : '' };
}

export function AdvicePane({ all, advice, failure }: { all: Models; advice: Advice | null; failure: string }) {
  const process = extra('process') || (all.parameters[0] ?? '');
  return (
    <div class="measure-next">
      <div class="bar">
        <strong>Measure next</strong>
        <input
          type="number"
          min="0"
          aria-label="budget"
          placeholder="budget"
          title="what measuring may cost in all: processes times the metric's unit"
          style={{ width: '110px' }}
          value={extra('budget')}
          onChange={(e) => changeExtra({ budget: e.currentTarget.value }, false)}
        />
        {all.parameters.length > 1 && (
          <select
            aria-label="number of processes"
            value={process}
            onChange={(e) => changeExtra({ process: e.currentTarget.value }, false)}
          >
            {all.parameters.map((p) => (
              <option key={p} value={p}>
                processes: {p}
              </option>
            ))}
          </select>
        )}
        <span class="quiet cut">
          {failure ||
            (advice
              ? advice.suggested.length
                ? (kWhy[advice.mode] ?? advice.mode)
                : 'nothing fits into this budget'
              : 'processes × time that measuring may cost')}
        </span>
      </div>
      {advice && advice.suggested.length > 0 && (
        <table class="plain legend">
          <thead>
            <tr>
              {all.parameters.map((p) => (
                <th key={p} class="number">
                  {p}
                </th>
              ))}
              <th class="number">repetition</th>
              <th class="number">expected cost</th>
            </tr>
          </thead>
          <tbody>
            {advice.suggested.map((s, i) => (
              <tr key={i} data-advised={s.point.join()} data-cost={s.cost}>
                {s.point.map((v, k) => (
                  <td key={k} class="number">
                    {v.toLocaleString('en')}
                  </td>
                ))}
                <td class="number">{s.repetition}</td>
                <td class="number">{Number(s.cost.toPrecision(4)).toLocaleString('en')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
