// Source files with values beside their lines.
import { useEffect, useState } from 'preact/hooks';
import { percent, readable } from '../data/format';
import type { Sources, SourceText } from '../data/types';
import { useAsk } from '../state/ask';
import { shapeQuery } from '../state/shape';
import { state } from '../state/state';
import { Failed } from './Failed';
import { VirtualRows } from './VirtualRows';

export function SourcePane({ metric, place }: { metric: string; place: string }) {
  const dataset = state.value.dataset;
  const list = useAsk<Sources>(`${dataset}/sources`, { metric, ...shapeQuery() });
  const [number, setNumber] = useState(-1);
  const colon = /^(.*):(\d+)$/.exec(place);
  const file = colon ? colon[1] : place;
  const line = colon ? Number(colon[2]) : 0;
  useEffect(() => {
    const found = list.data?.files.find((f) => f.name === file) ?? list.data?.files[0];
    setNumber(found?.number ?? -1);
  }, [list.data, file]);
  const asked = useAsk<SourceText>(number >= 0 ? `${dataset}/source` : null, { metric, file: number, ...shapeQuery() });
  if (list.failure) return <Failed failure={list.failure} again={list.again} />;
  if (!list.data) return <div class="empty">Looking for source files…</div>;
  if (!list.data.files.length) return <div class="empty">No source files: the regions of this profile name none.</div>;
  const text = asked.data;
  const total = list.data.total;
  const known = new Map(text?.line.map((l, i) => [l, i]) ?? []);
  // Without the text the lines with values stand alone.
  const lines = text ? (text.text ? text.text.map((_, i) => i + 1) : text.line) : [];
  const at = lines.findIndex((l) => l === line);
  return (
    <>
      <div class="bar">
        <select
          aria-label="source file"
          style={{ maxWidth: '70%' }}
          value={String(number)}
          onChange={(e) => setNumber(Number(e.currentTarget.value))}
        >
          {list.data.files.map((f) => (
            <option key={f.number} value={String(f.number)}>
              {f.name} ({percent(f.own, total)}){f.text ? '' : ', text not at hand'}
            </option>
          ))}
        </select>
        {text && (
          <span class="quiet">
            {readable(text.own, text.unit)} in it{text.text ? '' : '; --source DIR says where texts are'}
          </span>
        )}
      </div>
      {asked.failure ? <Failed failure={asked.failure} again={asked.again} /> : null}
      {text && (
        <VirtualRows
          count={lines.length}
          height={18}
          label="source"
          reveal={at}
          row={(i, style) => {
            const value = known.get(lines[i]!);
            const own = value === undefined ? 0 : (text.line_own[value] ?? 0);
            return (
              <div key={i} class="row source" role="row" style={style} aria-selected={lines[i] === line}>
                <div
                  class="value number"
                  style={{ width: '84px' }}
                  data-line={lines[i]}
                  data-own={value === undefined ? '' : own}
                  title={value === undefined ? '' : `${text.line_inclusive[value]} ${text.unit} with what is called`}
                >
                  <div class="ink" style={{ width: `${Math.min(100, 100 * Math.abs(own / total))}%` }} />
                  <span>{own ? readable(own, text.unit) : ''}</span>
                </div>
                <div class="number quiet" style={{ width: '48px' }}>
                  {lines[i] === 0 ? '?' : lines[i]}
                </div>
                <pre class="cut">{text.text?.[i] ?? ''}</pre>
              </div>
            );
          }}
        />
      )}
    </>
  );
}
