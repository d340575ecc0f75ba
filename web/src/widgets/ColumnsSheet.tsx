// Which metrics are columns, and in which order.
import { useState } from 'preact/hooks';
import type { Metrics } from '../data/types';
import { Sheet } from './Sheet';

export function ColumnsSheet(props: {
  metrics: Metrics;
  columns: string[];
  set: (columns: string[]) => void;
  close: () => void;
}) {
  const [query, setQuery] = useState('');
  const { metrics, columns, set } = props;
  const move = (name: string, by: number) => {
    const next = columns.filter((c) => c !== name);
    next.splice(Math.max(0, columns.indexOf(name) + by), 0, name);
    set(next);
  };
  const low = query.toLowerCase();
  const listed = [...columns, ...metrics.name.filter((n) => !columns.includes(n))].filter((n) =>
    n.toLowerCase().includes(low),
  );
  return (
    <Sheet label="columns" close={props.close}>
      <h2>Columns</h2>
      {metrics.name.length > 12 && (
        <input
          style={{ width: '100%', marginBottom: '8px' }}
          placeholder="part of a name"
          aria-label="part of a name"
          value={query}
          onInput={(e) => setQuery(e.currentTarget.value)}
        />
      )}
      <table class="plain wide">
        <tbody>
          {listed.slice(0, 200).map((name) => {
            const i = metrics.name.indexOf(name);
            const on = columns.includes(name);
            const why = metrics.unavailable[i] ?? '';
            return (
              <tr key={name} title={why || metrics.description[i]}>
                <td>
                  <label class={why ? 'quiet' : ''}>
                    <input
                      type="checkbox"
                      checked={on}
                      disabled={!!why || (on && columns.length === 1)}
                      onChange={() => set(on ? columns.filter((c) => c !== name) : [...columns, name].slice(0, 12))}
                    />{' '}
                    {metrics.title[i] ?? name}
                  </label>
                </td>
                <td class="quiet">{metrics.unit[i]}</td>
                <td>
                  {on && (
                    <>
                      <button class="mini" aria-label={`${name} further left`} onClick={() => move(name, -1)}>
                        ↑
                      </button>
                      <button class="mini" aria-label={`${name} further right`} onClick={() => move(name, 1)}>
                        ↓
                      </button>
                    </>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Sheet>
  );
}
