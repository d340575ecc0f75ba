// The chosen models as curves over one parameter, or one of them over two.
import type { PointKind } from '../data/curves';
import type { Advice, Model, Models } from '../data/types';
import { isLive } from '../state/ask';
import { changeExtra, extra, state } from '../state/state';
import { ModelHeat } from '../widgets/ModelHeat';
import { kSeries, ModelPlot } from '../widgets/ModelPlot';
import { ModelSurface } from '../widgets/ModelSurface';
import { AdvicePane } from './AdvicePane';

const kPlots: [string, string][] = [
  ['', 'Curves'],
  ['heat', 'Heat map'],
  ['surface', 'Surface'],
];

interface Props {
  name: string;
  all: Models;
  at: number[];
  picked: Model[];
  beside: (Model | undefined)[];
  besideName: string;
  advice: Advice | null;
  adviceFailure: string;
}

export function PlotPane(p: Props) {
  const { all, at, picked, name } = p;
  const log = extra('axes') !== 'linear';
  const points = (extra('pts') || 'all') as PointKind;
  const sum = extra('sum') === '1';
  const plot = all.parameters.length > 1 && picked[0] ? extra('plot') : '';
  const parameter = Math.max(0, all.parameters.indexOf(extra('over')));
  const advised = p.advice?.suggested.map((s) => s.point) ?? [];
  const Two = plot === 'surface' ? ModelSurface : ModelHeat;
  return (
    <div class="pane">
      <div class="bar">
        {all.parameters.length > 1 && (
          <>
            <span class="group">
              {kPlots.map(([key, title]) => (
                <button key={key} aria-pressed={plot === key} onClick={() => changeExtra({ plot: key }, false)}>
                  {title}
                </button>
              ))}
            </span>
            <select
              aria-label="over"
              value={all.parameters[parameter]}
              onChange={(e) => changeExtra({ over: e.currentTarget.value }, false)}
            >
              {all.parameters.map((title) => (
                <option key={title} value={title}>
                  over {title}
                </option>
              ))}
            </select>
          </>
        )}
        {!plot && <CurveTools {...{ log, points, sum }} several={picked.length > 1} />}
      </div>
      <div class="stage" style={{ margin: '8px' }}>
        {plot && picked[0] ? (
          <Two
            {...{ all, at, advised }}
            model={picked[0]}
            axes={[parameter, parameter === 0 ? 1 : 0]}
            name={[name, plot, picked[0].callpath.slice(-40)]}
          />
        ) : (
          <ModelPlot
            {...{ all, parameter, at, log, points, advised }}
            dataset={state.value.dataset}
            models={picked}
            beside={p.beside}
            sum={sum && picked.length > 1}
            name={[name, 'models', all.parameters[parameter] ?? '']}
          />
        )}
      </div>
      <div class="formulas">
        {picked.map((m, k) => (
          <p key={m.callpath} style={{ margin: '0 0 8px' }}>
            <span class="swatch" style={{ background: kSeries[k % kSeries.length] }} />
            <strong>{m.callpath.replaceAll('->', ' › ')}</strong>
            <br />
            <span class="number">{m.function}</span>
            {p.beside[k] && (
              <>
                <br />
                <span class="quiet">{p.besideName} (dashed): </span>
                <span class="number">{p.beside[k].function}</span>
              </>
            )}
            {m.explanation && (
              <>
                <br />
                <span class="quiet">{m.explanation}</span>
              </>
            )}
          </p>
        ))}
      </div>
      {isLive() && <AdvicePane all={all} advice={p.advice} failure={p.adviceFailure} />}
    </div>
  );
}

function CurveTools(p: { log: boolean; points: PointKind; sum: boolean; several: boolean }) {
  return (
    <>
      <button aria-pressed={p.log} onClick={() => changeExtra({ axes: p.log ? 'linear' : '' }, false)}>
        log axes
      </button>
      <select
        aria-label="points"
        value={p.points}
        onChange={(e) => changeExtra({ pts: e.currentTarget.value === 'all' ? '' : e.currentTarget.value }, false)}
      >
        <option value="all">every repetition</option>
        <option value="mean">mean</option>
        <option value="median">median</option>
        <option value="minimum">minimum</option>
        <option value="maximum">maximum</option>
      </select>
      <button
        aria-pressed={p.sum}
        disabled={!p.several}
        title="one curve for all chosen call paths"
        onClick={() => changeExtra({ sum: p.sum ? '' : '1' }, false)}
      >
        sum
      </button>
      <span class="quiet cut">Ctrl+click adds a curve</span>
    </>
  );
}
