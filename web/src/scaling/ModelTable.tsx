// The ranked models as a table.
import { percent, readable, toNumber } from '../data/format';
import { changeExtra } from '../state/state';
import { VirtualRows } from '../widgets/VirtualRows';
import type { Ranked } from './ranking';

type Column = [title: string, width: number];
const kColumns: Column[] = [
  ['', 24],
  ['at target', 100],
  ['share', 64],
  ['now', 80],
  ['SMAPE', 72],
  ['R²', 60],
];
// With another set beside it there is room for less.
const kCompared: Column[] = [
  ['', 24],
  ['at target', 100],
  ['share', 64],
  ['beside it', 84],
  ['difference', 92],
];
const kGrowth = 144;

// Errors that are nothing but rounding are no number worth reading.
const errorText = (percent: number) => (percent < 0.0005 ? '0%' : `${Number(percent.toPrecision(3))}%`);

export function unitOf(model: { unit: string; metric: string }): string {
  return model.unit || (/time/i.test(model.metric) ? 's' : '');
}

interface Props {
  ranked: Ranked[];
  sort: string;
  compared: boolean;
  paths: string[]; // chosen ones
  choose: (paths: string[]) => void;
}

export function ModelTable({ ranked, sort, compared, paths, choose }: Props) {
  const columns = compared ? kCompared : kColumns;
  const by = (title: string) => {
    const same = sort.slice(0, -1) === title;
    const falling = same ? !sort.endsWith('-') : title !== 'call path';
    changeExtra({ ss: `${title}${falling ? '-' : '+'}` }, false);
  };
  const arrow = (title: string) => (sort.slice(0, -1) === title ? (sort.endsWith('-') ? ' ↓' : ' ↑') : '');
  return (
    <VirtualRows
      count={ranked.length}
      height={22}
      label="models"
      headHeight={24}
      head={
        <div class="head" role="row">
          {columns.map(([title, width]) => (
            <div
              key={title}
              role="columnheader"
              style={{ width: `${width}px`, textAlign: 'right' }}
              onClick={() => title && by(title)}
            >
              {title}
              {arrow(title)}
            </div>
          ))}
          <div role="columnheader" style={{ width: `${kGrowth}px` }} onClick={() => by('growth')}>
            growth{arrow('growth')}
          </div>
          <div role="columnheader" style={{ flex: '1 1 auto', paddingLeft: 0 }} onClick={() => by('call path')}>
            call path{arrow('call path')}
          </div>
        </div>
      }
      row={(i, style) => (
        <ModelRow
          key={i}
          ranked={ranked[i]!}
          style={style}
          compared={compared}
          chosen={paths.includes(ranked[i]!.model.callpath)}
          pick={(more) => {
            const path = ranked[i]!.model.callpath;
            choose(more ? [...new Set([...paths, path])].slice(-6) : [path]);
          }}
        />
      )}
    />
  );
}

function ModelRow(p: {
  ranked: Ranked;
  style: { top: string; height: string } | Record<string, string>;
  compared: boolean;
  chosen: boolean;
  pick: (more: boolean) => void;
}) {
  const { model: m, value, share, otherValue } = p.ranked;
  const unit = unitOf(m);
  const path = m.callpath.replaceAll('->', ' › ');
  const leaf = path.lastIndexOf(' › ') < 0 ? 0 : path.lastIndexOf(' › ') + 3;
  const columns = p.compared ? kCompared : kColumns;
  const number = (column: number, text: string, data?: Record<string, number | undefined>) => (
    <div class="number cell" style={{ width: `${columns[column]![1]}px` }} {...data}>
      {text}
    </div>
  );
  return (
    <div
      class="row"
      role="row"
      style={p.style}
      aria-selected={p.chosen}
      title={`${m.callpath}\n${m.function}\n${m.explanation}`}
      onClick={(e) => p.pick(e.ctrlKey || e.metaKey)}
      data-mark={m.mark}
    >
      <div style={{ width: `${columns[0]![1]}px`, textAlign: 'center', color: 'var(--warn)', fontWeight: 600 }}>
        {m.mark === 'bug' ? '!' : m.mark === 'unsure' ? '?' : ''}
      </div>
      <div class="value number" style={{ width: `${columns[1]![1]}px` }} data-value={value}>
        <div class="ink" style={{ width: `${100 * share}%` }} />
        <span>{readable(value, unit)}</span>
      </div>
      {number(2, percent(share, 1))}
      {!p.compared && (
        <>
          {number(3, readable(toNumber(m.now), unit))}
          {number(4, errorText(toNumber(m.SMAPE)))}
          {number(5, Number.isFinite(toNumber(m.AR2)) ? toNumber(m.AR2).toFixed(3) : '–')}
        </>
      )}
      {p.compared && (
        <>
          {number(3, otherValue === undefined ? '–' : readable(otherValue, unit), { 'data-other': otherValue })}
          {number(4, otherValue === undefined ? '–' : readable(value - otherValue, unit), {
            'data-difference': otherValue === undefined ? undefined : value - otherValue,
          })}
        </>
      )}
      <div class="cut number" style={{ width: `${kGrowth}px`, textAlign: 'left', padding: '0 8px' }}>
        {m.growth}
      </div>
      <div class="name path">
        <span class="cut quiet">{path.slice(0, leaf)}</span>
        <span class="cut">{path.slice(leaf)}</span>
      </div>
    </div>
  );
}
