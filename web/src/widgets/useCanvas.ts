// A canvas that fills its parent, sharp on every screen, drawn once per change.
import { useEffect, useState } from 'preact/hooks';

export interface Drawing {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
}

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
  }, [canvas, ...size, ...depends]);
  return { canvas, attach, width: size[0], height: size[1] };
}

export function themeColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
