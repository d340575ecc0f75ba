// What leaves the page as a file: tables as CSV or JSON, pictures as PNG or SVG. Names say dataset, view and window.
import { csvCell } from './format';

export function fileName(parts: (string | undefined)[], ending: string): string {
  const text = parts
    .filter((p): p is string => !!p)
    .join('-')
    .replace(/[^\p{L}\p{N}._-]+/gu, '_')
    .slice(0, 120);
  return `${text || 'fathom'}.${ending}`;
}

export function csvOf(heads: string[], rows: (string | number | boolean | null)[][]): string {
  return (
    [heads, ...rows].map((cells) => cells.map((c) => csvCell(c === null ? '' : String(c))).join(',')).join('\n') + '\n'
  );
}

export function download(name: string, content: Blob | string, type = 'text/plain'): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(typeof content === 'string' ? new Blob([content], { type }) : content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
