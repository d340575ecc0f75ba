// Colours: the hue says what kind of work, lightness and a small turn of hue say which function. The same name has the
// same colour in every view, run and machine.

export type Category = 'compute' | 'p2p' | 'collective' | 'threads' | 'gpu' | 'io' | 'waiting' | 'other';

export const kBase: Record<Category, string> = {
  compute: '#3966CE',
  p2p: '#F97300',
  collective: '#F0CB54',
  threads: '#2DA192',
  gpu: '#A51E8A',
  io: '#7B6626',
  waiting: '#772F3E',
  other: '#B9BDC1',
};

export const kTitles: Record<Category, string> = {
  compute: 'compute',
  p2p: 'MPI point-to-point',
  collective: 'MPI collective',
  threads: 'threads, OpenMP, tasks',
  gpu: 'GPU',
  io: 'I/O',
  waiting: 'waiting',
  other: 'runtime, unknown',
};

const kCollective =
  /^P?MPI_(I?(Barrier|Bcast|Reduce|Allreduce|Gather|Allgather|Scatter|Alltoall|Scan|Exscan|Reduce_scatter|Neighbor)|Comm_|Win_fence|Win_create|Finalize|Init)/i;

export function categoryOf(name: string, paradigm = '', role = ''): Category {
  const kind = paradigm.toLowerCase();
  if (/^P?MPI_File_/i.test(name) || kind === 'io' || /^(read|write|fread|fwrite|open|close)$/.test(name)) return 'io';
  if (kind === 'mpi' || /^P?MPI_/i.test(name)) return kCollective.test(name) ? 'collective' : 'p2p';
  if (/barrier|wait/i.test(role)) return 'waiting';
  if (['openmp', 'omp', 'pthread'].includes(kind) || /^(!\$omp|omp_|GOMP_|kmp)/i.test(name)) return 'threads';
  if (['cuda', 'hip', 'opencl', 'openacc'].includes(kind) || /^(cuda|cu[A-Z]|hip|<gpu)/.test(name)) return 'gpu';
  if (kind === 'measurement' || /^<(unknown|no activity|program root|thread root)/.test(name)) return 'other';
  // States as traces of states name them.
  if (/^(idle|not created|stopped|others|overhead|unknown|tracing disabled|scheduling.*)$/i.test(name)) return 'other';
  if (/^(wait|waiting|blocked|blocking|paused|test\/probe|synchroni[sz]ation)\b/i.test(name)) return 'waiting';
  if (/^(group communication|collective)/i.test(name)) return 'collective';
  if (/^((immediate|blocking) )?(send|receive|recv)\b/i.test(name)) return 'p2p';
  if (/^i\/o$/i.test(name)) return 'io';
  return 'compute';
}

// FNV-1a over the name without template and argument lists, so that instances of one template look alike.
export function nameHash(name: string): number {
  const plain = name.replace(/<[^<>]*>/g, '').replace(/\(.*$/, '');
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(plain)) {
    hash ^= byte;
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return hash;
}

type Triple = [number, number, number];

function toLinear(c: number): number {
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}
function fromLinear(c: number): number {
  return c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055;
}

function hexToOklch(hex: string): Triple {
  const [r, g, b] = [1, 3, 5].map((i) => toLinear(parseInt(hex.slice(i, i + 2), 16) / 255)) as Triple;
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  const lightness = 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s;
  const a = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s;
  const bb = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s;
  return [lightness, Math.hypot(a, bb), (Math.atan2(bb, a) * 180) / Math.PI];
}

function oklchToRgb([lightness, chroma, hue]: Triple): Triple {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const rgb: Triple = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return rgb.map((c) => Math.round(255 * Math.min(1, Math.max(0, fromLinear(Math.max(0, c)))))) as Triple;
}

const cache = new Map<string, Triple>();

export function colourOf(name: string, paradigm = '', role = ''): Triple {
  const category = categoryOf(name, paradigm, role);
  const key = `${category}\n${name}`;
  let rgb = cache.get(key);
  if (!rgb) {
    const [lightness, chroma, hue] = hexToOklch(kBase[category]);
    const h = nameHash(name);
    const turn = ((h % 17) - 8) * (category === 'compute' ? 3.5 : 1.25);
    const lift = (((h >>> 8) % 5) - 2) * 0.035;
    rgb = oklchToRgb([Math.min(0.95, Math.max(0.15, lightness + lift)), chroma, hue + turn]);
    cache.set(key, rgb);
  }
  return rgb;
}

export function css([r, g, b]: readonly number[]): string {
  return `rgb(${r} ${g} ${b})`;
}

// Ink on a coloured box: dark on light, white on dark.
export function inkOn([r, g, b]: readonly number[]): string {
  const light =
    0.2126 * toLinear((r ?? 0) / 255) + 0.7152 * toLinear((g ?? 0) / 255) + 0.0722 * toLinear((b ?? 0) / 255);
  return light > 0.3 ? '#1F2430' : '#FFFFFF';
}
