// Questions in SQL over everything that is open.
import { useEffect, useRef, useState } from 'preact/hooks';
import { csvOf, download, fileName } from '../data/export';
import { Failure } from '../data/source';
import type { Dataset, Locations, SqlResult, SqlTables } from '../data/types';
import { post, useAsk } from '../state/ask';
import { change, changeExtra, extra, state, withExtra } from '../state/state';
import { Failed } from '../widgets/Failed';
import { VirtualRows } from '../widgets/VirtualRows';

const kHistory = 'fathom-sql';
const kNumbers = ['int64', 'uint64', 'int128', 'float64', 'seconds'];

function history(): string[] {
  try {
    return JSON.parse(localStorage.getItem(kHistory) ?? '[]') as string[];
  } catch {
    return [];
  }
}

// Columns that say when or where something is: their cells lead to the timeline.
const kTimes = /^(time_ns|t_send|t_recv|begin_ns|from_ns|enter_ns)$/;

export function Sql({ dataset }: { dataset: Dataset }) {
  const tables = useAsk<SqlTables>('tables');
  const s = state.value;
  const [query, setQuery] = useState(extra('sql') || history()[0] || '');
  const [past, setPast] = useState(history());
  const [result, setResult] = useState<SqlResult | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [running, setRunning] = useState(false);
  const [widths, setWidths] = useState<number[]>([]);
  const box = useRef<HTMLTextAreaElement>(null);
  const names = useAsk<Locations>(`${s.dataset}/locations`);
  const run = (text = query) => {
    if (!text.trim() || running) return;
    setRunning(true);
    setFailure(null);
    changeExtra({ sql: text });
    post<SqlResult>('sql', text)
      .then(
        (rows) => {
          setResult(rows);
          setWidths(
            rows.columns.map((c, i) =>
              Math.min(
                420,
                Math.max(
                  72,
                  16 +
                    7.4 * Math.max(c.name.length + 2, ...rows.rows.slice(0, 200).map((r) => String(r[i] ?? '').length)),
                ),
              ),
            ),
          );
          const list = [text, ...past.filter((p) => p !== text)].slice(0, 50);
          setPast(list);
          localStorage.setItem(kHistory, JSON.stringify(list));
        },
        (why: Failure) => setFailure(why),
      )
      .finally(() => setRunning(false));
  };
  // A link with a query runs it.
  useEffect(() => {
    if (extra('sql') && tables.data) run(extra('sql'));
  }, [tables.data]);
  if (tables.failure) {
    return (
      <div class="page">
        <h2>SQL needs DuckDB</h2>
        <Failed failure={tables.failure} again={tables.again} />
      </div>
    );
  }
  // Times of the data are on its own clock, those of the timeline since its beginning.
  const info = new Map(dataset.info);
  const first = info.get('first_ns');
  const span = Number(info.get('span_ns'));
  const time = typeof first === 'string' ? (result?.columns.findIndex((c) => kTimes.test(c.name)) ?? -1) : -1;
  const place = result?.columns.findIndex((c) => c.name === 'location') ?? -1;
  const show = (row: SqlResult['rows'][number]) => {
    const where = place >= 0 ? (names.data?.label.indexOf(String(row[place])) ?? -1) : -1;
    const since = time >= 0 ? Number(BigInt(String(row[time])) - BigInt(String(first))) : 0;
    const half = Math.max(500, Math.round(span / 200));
    const part: Record<string, string> =
      time >= 0 ? { w: `${Math.max(0, since - half)}-${Math.min(span, since + half)}` } : {};
    change({
      view: time >= 0 ? 'timeline' : 'profile',
      locations: where >= 0 ? String(where) : '',
      rest: withExtra(part),
    });
  };
  return (
    <div class="split" style={{ gridTemplateColumns: '240px minmax(0, 1fr)' }}>
      <div class="pane side">
        <div class="bar">
          <strong>Tables</strong>
        </div>
        <div class="scroll">
          {(tables.data?.tables ?? []).map((t) => (
            <details key={t.name} class="entry">
              <summary title={t.title}>
                {t.name}
                <button
                  title={`SELECT * FROM ${t.name}`}
                  aria-label={`show ${t.name}`}
                  onClick={(e) => {
                    e.preventDefault();
                    const text = `SELECT * FROM ${t.name} LIMIT 100`;
                    setQuery(text);
                    run(text);
                  }}
                >
                  ▸
                </button>
              </summary>
              <div class="quiet">{t.title}</div>
              {t.columns.map((c) => (
                <div key={c} class="number" style={{ textAlign: 'left' }}>
                  {c}
                </div>
              ))}
            </details>
          ))}
          {past.length > 0 && (
            <>
              <h3>History</h3>
              {past.slice(0, 20).map((p) => (
                <button key={p} class="line cut" title={p} onClick={() => setQuery(p)}>
                  {p}
                </button>
              ))}
            </>
          )}
        </div>
      </div>
      <div class="pane">
        <textarea
          ref={box}
          class="editor"
          aria-label="query"
          spellcheck={false}
          placeholder="SELECT * FROM hot_region LIMIT 20"
          value={query}
          onInput={(e) => setQuery(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) {
              e.preventDefault();
              run();
            }
          }}
        />
        <div class="bar">
          <button class="primary" onClick={() => run()} disabled={running}>
            {running ? 'Running…' : 'Run'}
          </button>
          <span class="quiet">Ctrl+Enter</span>
          {result && (
            <span class="quiet" data-rows={result.rows.length}>
              {result.rows.length.toLocaleString('en')} rows{result.more ? ', and more: the first ones are shown' : ''}
            </span>
          )}
          <span class="spacer" />
          {result && (
            <button
              onClick={() =>
                download(
                  fileName(['query'], 'csv'),
                  csvOf(
                    result.columns.map((c) => c.name),
                    result.rows,
                  ),
                  'text/csv',
                )
              }
            >
              CSV
            </button>
          )}
          {result && (
            <button
              onClick={() =>
                download(
                  fileName(['query'], 'json'),
                  JSON.stringify(
                    result.rows.map((r) => Object.fromEntries(result.columns.map((c, i) => [c.name, r[i]]))),
                  ),
                  'application/json',
                )
              }
            >
              JSON
            </button>
          )}
        </div>
        {failure ? <Failed failure={failure} again={() => run()} /> : null}
        {result ? (
          result.rows.length ? (
            <VirtualRows
              count={result.rows.length}
              height={22}
              label="result"
              headHeight={24}
              columns={result.columns.length}
              head={
                <div
                  class="head"
                  role="row"
                  style={{ minWidth: '100%', width: `${widths.reduce((a, b) => a + b, 0) + 40}px` }}
                >
                  {result.columns.map((c, i) => (
                    <div
                      key={i}
                      role="columnheader"
                      title={`${c.type}${c.unit ? `, ${c.unit}` : ''}`}
                      style={{ width: `${widths[i]}px`, textAlign: kNumbers.includes(c.type) ? 'right' : 'left' }}
                    >
                      {c.name}
                    </div>
                  ))}
                </div>
              }
              row={(i, style) => (
                <div
                  class="row"
                  role="row"
                  key={i}
                  style={{ ...style, width: `${widths.reduce((a, b) => a + b, 0) + 40}px` }}
                >
                  {result.rows[i]!.map((cell, k) => (
                    <div
                      key={k}
                      role="gridcell"
                      class={kNumbers.includes(result.columns[k]!.type) ? 'number cell' : 'cut cell'}
                      style={{ width: `${widths[k]}px` }}
                      title={String(cell ?? '')}
                    >
                      {cell === null ? <span class="quiet">–</span> : String(cell)}
                    </div>
                  ))}
                  {(time >= 0 || place >= 0) && (
                    <div style={{ width: '36px' }}>
                      <button class="mini" title="show it" aria-label="show it" onClick={() => show(result.rows[i]!)}>
                        ▸
                      </button>
                    </div>
                  )}
                </div>
              )}
            />
          ) : (
            <div class="empty">{result.columns.length ? 'No rows.' : 'Done: this statement has no result.'}</div>
          )
        ) : (
          !failure && (
            <div class="empty">
              Ask anything: the tables on the left are scanned where they are, nothing is imported. Queries can only
              read.
            </div>
          )
        )}
      </div>
    </div>
  );
}
