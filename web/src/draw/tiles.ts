// Pictures of tiles, kept while they may be needed again.
import { decodeTile, kBelow, kEmpty, paint, type Tile } from '../data/tile';
import { ramp } from '../data/colours';

export interface Shown {
  tile: Tile;
  picture: HTMLCanvasElement;
}

export interface TileKey {
  rows: string; // "0-63", "g2,5"; "": the block r of all rows in their own order
  r: number;
  k: number;
  i: number;
}

const kMostKept = 600;

export class Tiles {
  private readonly kept = new Map<string, Shown | null>();
  requested = 0;
  failed = 0;
  constructor(
    private readonly ask: (key: TileKey) => Promise<ArrayBuffer>,
    private readonly palette: (context: number) => readonly number[],
    private readonly background: readonly number[],
    private readonly byCalls: boolean,
    private readonly arrived: (tile: Tile) => void,
    private before: Tiles | null = null,
  ) {
    if (before) before.before = null; // one is enough
  }

  private static text({ rows, r, k, i }: TileKey): string {
    return `${rows}|${r} ${k} ${i}`;
  }

  get(key: TileKey): Shown | null {
    const text = Tiles.text(key);
    const known = this.kept.get(text);
    if (known !== undefined) return known;
    this.kept.set(text, null);
    ++this.requested;
    void this.ask(key).then(
      (buffer) => {
        const tile = decodeTile(buffer);
        this.kept.set(text, { tile, picture: this.draw(tile) });
        const oldest = this.kept.keys().next().value;
        if (this.kept.size > kMostKept && oldest !== undefined) this.kept.delete(oldest);
        this.arrived(tile);
      },
      () => {
        ++this.failed;
        this.kept.delete(text);
      },
    );
    return null;
  }

  // What is there already, or nothing.
  peek(key: TileKey): Shown | null {
    return this.kept.get(Tiles.text(key)) ?? null;
  }

  // Until a tile is there a coarser one stands in: never a blank.
  best(key: TileKey): { shown: Shown; k: number; i: number } | null {
    let shown = this.get(key);
    let { k, i } = key;
    while (!shown && k < key.k + 8) {
      ++k;
      i = Math.floor(i / 2);
      shown = this.peek({ ...key, k, i });
    }
    if (shown) return { shown, k, i };
    // The picture of a moment ago: with other colours or fewer rows, but no blank.
    const old = this.before?.peek(key);
    return old ? { shown: old, k: key.k, i: key.i } : null;
  }

  private draw(tile: Tile): HTMLCanvasElement {
    const picture = document.createElement('canvas');
    picture.width = tile.bins;
    picture.height = Math.max(1, tile.rows);
    const context = picture.getContext('2d')!;
    const image = context.createImageData(picture.width, picture.height);
    const out = new Uint32Array(image.data.buffer);
    if (this.byCalls) paintCalls(tile, out);
    else paint(tile, this.palette, this.background, out);
    context.putImageData(image, 0, 0);
    return picture;
  }
}

// How many calls begin in each pixel, on a scale of powers of two.
function paintCalls(tile: Tile, out: Uint32Array): void {
  for (let i = 0; i < tile.rows * tile.bins; ++i) {
    const calls = tile.calls[i] ?? 0;
    if (!calls || (tile.dominant[i] ?? kEmpty) === kEmpty) continue;
    const [r, g, b] = ramp(calls / 12) as [number, number, number];
    out[i] = (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
  }
}

// Stretches of one context in a row, in bins: what labels are written into.
export function stretches(tile: Tile, row: number): { from: number; to: number; context: number; below: boolean }[] {
  const out: { from: number; to: number; context: number; below: boolean }[] = [];
  const base = row * tile.bins;
  for (let i = 0; i < tile.bins;) {
    const cell = tile.dominant[base + i] ?? kEmpty;
    let j = i + 1;
    while (j < tile.bins && tile.dominant[base + j] === cell) ++j;
    if (cell !== kEmpty && (tile.share[base + ((i + j) >> 1)] ?? 0) > 150)
      out.push({ from: i, to: j, context: tile.names[cell & ~kBelow] ?? 0, below: (cell & kBelow) !== 0 });
    i = j;
  }
  return out;
}
