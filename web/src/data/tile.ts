// Tiles of the timeline: which context fills most of each cell, and how much of it.
export interface Tile {
  exact: boolean;
  version: number; // of the numbers of contexts
  firstNs: number;
  k: number;
  bins: number;
  rows: number;
  names: Uint32Array; // contexts
  dominant: Uint16Array; // place in names; kEmpty = nothing; bit 15 = somewhere below
  share: Uint8Array; // of 255
  calls: Uint8Array; // log2 of how many begin here, plus 1
}

export const kEmpty = 0xffff;
export const kBelow = 0x8000;

export function decodeTile(buffer: ArrayBuffer): Tile {
  const view = new DataView(buffer);
  const magic = String.fromCharCode(...new Uint8Array(buffer, 0, 4));
  if (buffer.byteLength < 32 || magic !== 'FTL1') throw new Error(`not a tile: ${magic}`);
  const flags = view.getUint32(4, true);
  const firstNs = Number(view.getBigInt64(8, true));
  const k = view.getUint8(16);
  const bins = view.getUint16(18, true);
  const rows = view.getUint16(20, true);
  const count = view.getUint16(22, true);
  const cells = bins * rows;
  const names = new Uint32Array(buffer.slice(32, 32 + 4 * count));
  const at = 32 + 4 * count;
  if (buffer.byteLength < at + 4 * cells) throw new Error('a tile that is cut short');
  return {
    exact: (flags & 1) !== 0,
    version: view.getUint32(24, true),
    firstNs,
    k,
    bins,
    rows,
    names,
    dominant: new Uint16Array(buffer.slice(at, at + 2 * cells)),
    share: new Uint8Array(buffer, at + 2 * cells, cells),
    calls: new Uint8Array(buffer, at + 3 * cells, cells),
  };
}

export function encodeTile(tile: Tile): ArrayBuffer {
  const cells = tile.bins * tile.rows;
  const at = 32 + 4 * tile.names.length;
  const buffer = new ArrayBuffer(at + 4 * cells);
  const view = new DataView(buffer);
  const bytes = new Uint8Array(buffer);
  bytes.set([...'FTL1'].map((c) => c.charCodeAt(0)));
  view.setUint32(4, tile.exact ? 1 : 2, true);
  view.setBigInt64(8, BigInt(tile.firstNs), true);
  view.setUint8(16, tile.k);
  view.setUint16(18, tile.bins, true);
  view.setUint16(20, tile.rows, true);
  view.setUint16(22, tile.names.length, true);
  view.setUint32(24, tile.version, true);
  tile.names.forEach((name, i) => view.setUint32(32 + 4 * i, name, true));
  tile.dominant.forEach((cell, i) => view.setUint16(at + 2 * i, cell, true));
  bytes.set(tile.share, at + 2 * cells);
  bytes.set(tile.calls, at + 3 * cells);
  return buffer;
}

// The zoom level whose bins are nearest to a pixel.
export function levelFor(nsPerPixel: number): number {
  return Math.max(0, Math.min(42, Math.round(Math.log2(Math.max(1, nsPerPixel)))));
}

// A tile as a picture: palette by context, strength of colour by share.
export function paint(
  tile: Tile,
  palette: (context: number) => readonly number[],
  background: readonly number[],
  out: Uint32Array,
): void {
  const colours = Array.from(tile.names, (context) => palette(context));
  for (let i = 0; i < out.length; ++i) {
    const place = tile.dominant[i] ?? kEmpty;
    if (place === kEmpty) {
      out[i] = 0;
      continue;
    }
    const rgb = colours[place & ~kBelow] ?? [128, 128, 128];
    const strength = ((tile.share[i] ?? 0) / 255) ** 0.8;
    const mix = (c: number) => Math.round((rgb[c] ?? 0) * strength + (background[c] ?? 0) * (1 - strength));
    out[i] = (0xff000000 | (mix(2) << 16) | (mix(1) << 8) | mix(0)) >>> 0;
  }
}
