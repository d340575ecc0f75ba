// A metric computed from others: a formula, checked while it is typed, in the language of --derive or in CubePL.
import { useEffect, useState } from 'preact/hooks';
import type { Metrics } from '../data/types';
import { useAsk } from '../state/ask';
import { addToShape, dropFromShape, shapeLines, shapeQuery, type ShapeKind } from '../state/shape';
import { state } from '../state/state';
import { Sheet } from './Sheet';

const kFunctions = ['sqrt(', 'min(', 'max(', 'abs(', 'inclusive(', 'exclusive(', 'total(', 'choose('];
const kPast = 'fathom-formulas';

function past(): string[] {
  try {
    return JSON.parse(localStorage.getItem(kPast) ?? '[]') as string[];
  } catch {
    return [];
  }
}

export function DeriveSheet({ metrics, close }: { metrics: Metrics; close: () => void }) {
  const [kind, setKind] = useState<ShapeKind>('derive');
  const [name, setName] = useState('');
  const [formula, setFormula] = useState('');
  const [tried, setTried] = useState('');
  const line = name && formula ? `${name} = ${formula}` : '';
  useEffect(() => {
    const timer = setTimeout(() => setTried(line), 250);
    return () => clearTimeout(timer);
  }, [line]);
  const check = useAsk<Metrics>(tried ? `${state.value.dataset}/metrics` : null, {
    ...shapeQuery(),
    [kind]: [...shapeLines(kind), tried].join('\n'),
  });
  const good = tried === line && !!check.data?.name.includes(name) && !check.failure;
  const word = /[\w.]*$/.exec(formula)?.[0] ?? '';
  const spelled = (n: string) =>
    kind === 'cubepl' ? `metric::${n}()` : /^[A-Za-z_]\w*$/.test(n) ? n : `'${n.replaceAll("'", '')}'`;
  const offers = word
    ? [...metrics.name.map(spelled), ...(kind === 'derive' ? kFunctions : [])]
        .filter((n) => n.toLowerCase().includes(word.toLowerCase()) && n !== word)
        .slice(0, 8)
    : [];
  const add = () => {
    if (!good) return;
    localStorage.setItem(kPast, JSON.stringify([line, ...past().filter((p) => p !== line)].slice(0, 20)));
    addToShape(kind, line, { cols: '' });
    close();
  };
  return (
    <Sheet label="derived metric" close={close}>
      <h2>A metric computed from others</h2>
      <div class="form">
        <label>
          name{' '}
          <input aria-label="name of the metric" value={name} onInput={(e) => setName(e.currentTarget.value.trim())} />
        </label>
        <label>
          language{' '}
          <select aria-label="language" value={kind} onChange={(e) => setKind(e.currentTarget.value as ShapeKind)}>
            <option value="derive">formula, as --derive</option>
            <option value="cubepl">CubePL</option>
          </select>
        </label>
        <input
          class="number"
          style={{ width: '100%', textAlign: 'left' }}
          aria-label="formula"
          placeholder={kind === 'cubepl' ? 'metric::time() / metric::visits()' : 'time / visits'}
          value={formula}
          onInput={(e) => setFormula(e.currentTarget.value)}
          onKeyDown={(e) => e.key === 'Enter' && add()}
        />
        <div class="offers">
          {offers.map((o) => (
            <button key={o} onClick={() => setFormula(formula.slice(0, formula.length - word.length) + o)}>
              {o}
            </button>
          ))}
        </div>
        <p class={good ? 'quiet' : 'wrong'} aria-live="polite" data-check={good ? 'good' : ''}>
          {!line
            ? ''
            : tried !== line
              ? '…'
              : check.failure
                ? check.failure.message
                : good
                  ? 'This works. Values are computed on sums, so that a ratio stays a ratio.'
                  : '…'}
        </p>
        <button class="primary" disabled={!good} onClick={add}>
          Add the metric
        </button>
      </div>
      {(['derive', 'cubepl'] as ShapeKind[]).flatMap((k) =>
        shapeLines(k).map((l) => (
          <p key={l} class="number" style={{ textAlign: 'left' }}>
            {l}{' '}
            <button class="mini" aria-label={`remove ${l}`} onClick={() => dropFromShape(k, l)}>
              ✕
            </button>
          </p>
        )),
      )}
      {past().length > 0 && (
        <>
          <h2 style={{ marginTop: '12px' }}>Formulas used before</h2>
          {past().map((p) => (
            <button
              key={p}
              class="line cut"
              onClick={() => {
                const at = p.indexOf('=');
                setName(p.slice(0, at).trim());
                setFormula(p.slice(at + 1).trim());
              }}
            >
              {p}
            </button>
          ))}
        </>
      )}
    </Sheet>
  );
}
