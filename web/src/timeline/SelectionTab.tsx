// What the functions took in the selected part: first as the index knows it, then exactly.
import { useState } from 'preact/hooks';
import { csvCell, percent, readable } from '../data/format';
import { useAsk } from '../state/ask';
import { colourOf, css } from '../theme/palette';
import { Failed } from '../widgets/Failed';
import { VirtualRows } from '../widgets/VirtualRows';
import type { Query } from '../data/source';

interface WindowRow {
  name: string;
  region: number;
  calls?: number;
  own_ns: number;
  total_ns: number;
  mean_ns?: number;
  min_ns?: number;
  max_ns?: number;
}
export interface WindowData {
  exact: boolean;
  bound_ns?: number;
  whole?: boolean;
  rows: WindowRow[];
}

type Column = 'name' | 'own_ns' | 'total_ns' | 'calls' | 'mean_ns' | 'min_ns' | 'max_ns';
const kColumns: [Column, string, number][] = [
  ['name', 'function', 0],
  ['own_ns', 'own time', 110],
  ['total_ns', 'with callees', 110],
  ['calls', 'calls', 84],
  ['mean_ns', 'mean', 84],
  ['min_ns', 'shortest', 84],
  ['max_ns', 'longest', 84],
];

export function SelectionTab(p: {
  dataset: number;
  query: Query;
  what: string;
  partly: string; // what of the rows is there so far; empty: all
  focus: (region: number) => void;
  focused: number;
  profile: () => void;
  canProfile: boolean;
}) {
  const quick = useAsk<WindowData>(`${p.dataset}/window`, { ...p.query, quick: 1 });
  const exact = useAsk<WindowData>(`${p.dataset}/window`, p.query);
  const [sort, setSort] = useState<[Column, number]>(['own_ns', -1]);
  // The exact answer belongs to what is asked for now only when it came after it.
  const data = exact.data && !exact.stale ? exact.data : (quick.data ?? exact.data);
  if (exact.failure) return <Failed failure={exact.failure} again={exact.again} />;
  if (!data) return <div class="empty">Summing up…</div>;
  const rows = [...data.rows].sort((a, b) => {
    const [x, y] = [a[sort[0]], b[sort[0]]];
    return sort[1] * (typeof x === 'string' ? x.localeCompare(String(y)) : Number(x ?? -1) - Number(y ?? -1));
  });
  const own = data.rows.reduce((s, r) => s + r.own_ns, 0);
  const csv = () =>
    [
      kColumns.map(([, title]) => title).join(','),
      ...rows.map((r) => kColumns.map(([key]) => csvCell(String(r[key] ?? ''))).join(',')),
    ].join('\n');
  const head = (
    <div class="head" role="row">
      {kColumns.map(([key, title, width]) => (
        <div
          key={key}
          role="columnheader"
          aria-sort={sort[0] === key ? (sort[1] < 0 ? 'descending' : 'ascending') : 'none'}
          style={width ? { width: `${width}px`, textAlign: 'right' } : { flex: '1 1 auto' }}
          onClick={() => setSort([key, sort[0] === key ? -sort[1] : key === 'name' ? 1 : -1])}
        >
          {title}
          {sort[0] === key ? (sort[1] < 0 ? ' ↓' : ' ↑') : ''}
        </div>
      ))}
    </div>
  );
  return (
    <>
      <div class="bar">
        <span data-exact={String(data.exact)}>
          {p.what}: {readable(own / 1e9, 's')} of {rows.length} functions{' '}
          {p.partly
            ? `≈ ${p.partly}`
            : data.exact
              ? 'exactly'
              : `≈ each at most ${readable((data.bound_ns ?? 0) / 1e9, 's')} more`}
        </span>
        <span class="spacer" />
        {p.canProfile && (
          <button onClick={p.profile} title="call tree and flame graph of this part alone">
            Profile of this window
          </button>
        )}
        <button onClick={() => void navigator.clipboard?.writeText(csv())}>Copy CSV</button>
      </div>
      <VirtualRows
        label="functions of the selection"
        count={rows.length}
        height={22}
        head={head}
        headHeight={24}
        columns={kColumns.length}
        row={(i, style) => {
          const r = rows[i]!;
          return (
            <div
              key={r.name}
              class="row"
              role="row"
              aria-rowindex={i + 2}
              aria-selected={r.region >= 0 && r.region === p.focused}
              style={style}
              data-function={r.name}
              onClick={() => r.region >= 0 && p.focus(r.region)}
            >
              <div class="name cut" role="gridcell" title={r.name} style={{ paddingLeft: '8px' }}>
                <span class="swatch" style={{ background: css(colourOf(r.name)) }} />
                {r.name}
              </div>
              {kColumns.slice(1).map(([key, , width]) => {
                const value = r[key] as number | undefined;
                return (
                  <div
                    key={key}
                    class="value number"
                    role="gridcell"
                    style={{ width: `${width}px` }}
                    data-column={key}
                    data-value={value}
                    title={value === undefined ? '' : String(value)}
                  >
                    {key === 'own_ns' && own > 0 && (
                      <div class="ink" style={{ width: `${(100 * (value ?? 0)) / own}%` }} />
                    )}
                    <span>
                      {value === undefined
                        ? '–'
                        : key === 'calls'
                          ? value.toLocaleString('en')
                          : `${readable(value / 1e9, 's')}${key === 'own_ns' ? ` ${percent(value, own)}` : ''}`}
                    </span>
                  </div>
                );
              })}
            </div>
          );
        }}
      />
    </>
  );
}
