// A canvas that fills its parent, sharp on every screen, drawn once per change; and its picture as a file.
import { useEffect, useState } from 'preact/hooks';
import { download, fileName } from '../data/export';
import { SvgContext } from '../draw/svg';

export interface Drawing {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
}

// How each canvas was drawn last: the same calls make the SVG.
const drawings = new WeakMap<HTMLCanvasElement, { draw: (drawing: Drawing) => void; width: number; height: number }>();

// The canvas may come and go with the data: `attach` is its ref, `canvas` the element while there is one.
export function useCanvas(draw: (drawing: Drawing) => void, depends: unknown[]) {
  const [canvas, attach] = useState<HTMLCanvasElement | null>(null);
  const [size, setSize] = useState<[number, number]>([0, 0]);
  useEffect(() => {
    const parent = canvas?.parentElement;
    if (!parent) return;
    const observer = new ResizeObserver(() => setSize([parent.clientWidth, parent.clientHeight]));
    observer.observe(parent);
    return () => observer.disconnect();
  }, [canvas]);
  useEffect(() => {
    const [width, height] = size;
    if (!canvas || !width || !height) return;
    const scale = devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext('2d')!;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    draw({ context, width, height });
    drawings.set(canvas, { draw, width, height });
  }, [canvas, ...size, ...depends]);
  return { canvas, attach, width: size[0], height: size[1] };
}

export function themeColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function svgOf(canvas: HTMLCanvasElement): string | null {
  const drawing = drawings.get(canvas);
  if (!drawing) return null;
  const context = new SvgContext(drawing.width, drawing.height, themeColour('background'));
  drawing.draw({ ...drawing, context: context as unknown as CanvasRenderingContext2D });
  return context.text();
}

export function savePicture(
  canvas: HTMLCanvasElement | null,
  parts: (string | undefined)[],
  kind: 'png' | 'svg',
): void {
  if (!canvas) return;
  if (kind === 'svg') {
    const text = svgOf(canvas);
    if (text) download(fileName(parts, 'svg'), text, 'image/svg+xml');
    return;
  }
  // A canvas is transparent where nothing is drawn.
  const picture = document.createElement('canvas');
  picture.width = canvas.width;
  picture.height = canvas.height;
  const context = picture.getContext('2d')!;
  context.fillStyle = themeColour('background');
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(canvas, 0, 0);
  picture.toBlob((blob) => blob && download(fileName(parts, 'png'), blob));
}
