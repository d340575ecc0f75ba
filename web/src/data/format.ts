// Numbers for people: the same rules as the command line's.
import type { InfoValue } from './types';

const kFractions: Record<string, number> = {
  usec: 1e-6,
  us: 1e-6,
  µs: 1e-6,
  microseconds: 1e-6,
  nsec: 1e-9,
  ns: 1e-9,
  msec: 1e-3,
  ms: 1e-3,
};

function scaled(value: number, step: number, unit: string, prefixes: string[]): string {
  let i = 0;
  let size = Math.abs(value);
  // What would be rounded up to a whole step is one of the next unit.
  while (size >= (step === 1000 && i + 1 < prefixes.length ? 999.5 : step) && i + 1 < prefixes.length) {
    size /= step;
    value /= step;
    ++i;
  }
  const digits = i === 0 && Number.isInteger(value) ? 0 : size >= 100 ? 0 : size >= 10 ? 1 : 2;
  const blank = unit === '' && prefixes[i] === '' ? '' : ' ';
  return `${value.toFixed(digits)}${blank}${prefixes[i]}${unit}`;
}

export function readable(value: number, unit: string): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  const fraction = kFractions[unit];
  if (fraction !== undefined) return readable(value * fraction, 'sec');
  if (unit === 'sec' || unit === 's' || unit === 'seconds') {
    if (value === 0) return '0 s';
    const size = Math.abs(value);
    if (size >= 7200) return `${(value / 3600).toFixed(size < 36000 ? 2 : 1)} h`;
    if (size >= 1000) return `${value.toFixed(0)} s`;
    if (size >= 1) return scaled(value, 1000, 's', ['']);
    return scaled(value * 1e9, 1000, 's', ['n', 'µ', 'm', '']);
  }
  if (/^(bytes?|B)$/i.test(unit)) return scaled(value, 1024, 'B', ['', 'Ki', 'Mi', 'Gi', 'Ti']);
  const shown = unit === 'occ' || unit === '#' || unit === '1' ? '' : unit;
  if (Math.abs(value) < 1 && value !== 0) return `${Number(value.toPrecision(3))}${shown ? ' ' : ''}${shown}`;
  return scaled(value, 1000, shown, ['', 'k', 'M', 'G', 'T']);
}

export function percent(part: number, whole: number): string {
  const share = part / whole;
  return whole === 0 || !Number.isFinite(share) ? '–' : `${(share * 100).toFixed(1)}%`;
}

// A value as it came: numbers, or texts where a double could not hold them.
export function toNumber(value: number | string | null): number {
  if (value === null || value === 'nan') return NaN;
  if (value === 'inf') return Infinity;
  if (value === '-inf') return -Infinity;
  return Number(value);
}

// A moment since the first event, with as many digits as the width of the window needs.
export function timeText(ns: number, spanNs: number): string {
  const [unit, size] =
    spanNs >= 2e9 ? ['s', 1e9] : spanNs >= 2e6 ? ['ms', 1e6] : spanNs >= 2e3 ? ['µs', 1e3] : ['ns', 1];
  const digits = Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(Math.max(1e-9, spanNs / (size as number))))));
  return `${(ns / (size as number)).toFixed(digits)} ${unit}`;
}

export function csvCell(text: string): string {
  // Spreadsheets run what begins like a formula: keep it a text.
  const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

// What a dataset says of itself.
export function infoText(value: InfoValue): string {
  if (value === null) return 'not counted';
  if (Array.isArray(value))
    return value.slice(0, 20).join(', ') + (value.length > 20 ? `, … ${value.length - 20} more` : '');
  const text = String(value);
  return /^\d{5,}$/.test(text) ? text.replace(/\B(?=(\d{3})+$)/g, ',') : text;
}
