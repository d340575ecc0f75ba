// How a value spreads over locations.
export interface Figures {
  count: number;
  sum: number;
  mean: number;
  deviation: number;
  minimum: number;
  maximum: number;
  quartiles: [number, number, number];
  imbalance: number; // maximum ÷ mean − 1
}

export function figuresOf(values: number[]): Figures {
  const sorted = [...values].sort((a, b) => a - b);
  const count = values.length;
  const sum = values.reduce((a, b) => a + b, 0);
  const mean = count ? sum / count : NaN;
  const variance = count ? values.reduce((a, v) => a + (v - mean) ** 2, 0) / count : NaN;
  const quantile = (q: number) => {
    const at = q * (count - 1);
    const low = sorted[Math.floor(at)] ?? NaN;
    const high = sorted[Math.ceil(at)] ?? NaN;
    return low + (high - low) * (at - Math.floor(at));
  };
  const maximum = sorted[count - 1] ?? NaN;
  return {
    count,
    sum,
    mean,
    deviation: Math.sqrt(variance),
    minimum: sorted[0] ?? NaN,
    maximum,
    quartiles: [quantile(0.25), quantile(0.5), quantile(0.75)],
    imbalance: maximum / mean - 1,
  };
}

export function histogram(values: number[], bins: number): { from: number; to: number; members: number[] }[] {
  const low = values.reduce((least, v) => Math.min(least, v), Infinity);
  const high = values.reduce((most, v) => Math.max(most, v), -Infinity);
  const width = (high - low) / bins || 1;
  const out = Array.from({ length: bins }, (_, i) => ({
    from: low + i * width,
    to: low + (i + 1) * width,
    members: [] as number[],
  }));
  values.forEach((v, i) => out[Math.min(bins - 1, Math.floor((v - low) / width))]!.members.push(i));
  return out;
}
