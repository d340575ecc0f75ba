// Evaluating performance functions in the page, so that a slider answers at once.
import { toNumber } from './format';
import type { Model, Models, Terms } from './types';

function fraction(text: string): number {
  const [above, below] = text.split('/').map(Number);
  return below === undefined ? (above ?? 0) : (above ?? 0) / below;
}

function evaluateTerms(terms: Terms, parameters: string[], point: number[]): number {
  let sum = toNumber(terms.constant);
  for (const term of terms.compound) {
    let product = toNumber(term.coefficient);
    for (const factor of term.factors) {
      const x = point[parameters.indexOf(factor.parameter)] ?? NaN;
      const power = fraction(factor.exponent);
      const log = fraction(factor.log);
      if (power) product *= x ** power;
      if (log) product *= Math.log2(x) ** log;
    }
    sum += product;
  }
  return sum;
}

export function evaluate(model: Model, parameters: string[], point: number[]): number {
  if (model.terms) return evaluateTerms(model.terms, parameters, point);
  const x = point[0] ?? NaN;
  const piece = model.segments?.find((s) => x >= (s.from ?? -Infinity) && x <= (s.to ?? Infinity));
  return piece ? evaluateTerms(piece.terms, parameters, point) : NaN;
}

// The growth that was said to be acceptable, up to a factor.
export function expectedGrowth(all: Models, point: number[]): number {
  return (all.expected ?? []).reduce(
    (product, [power, log], i) => product * (point[i] ?? NaN) ** power * Math.log2(point[i] ?? NaN) ** log,
    1,
  );
}
