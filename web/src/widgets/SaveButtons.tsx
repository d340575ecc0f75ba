// Saving what a view shows.
import { savePicture } from './useCanvas';

export function PictureButtons({ canvas, name }: { canvas: HTMLCanvasElement | null; name: (string | undefined)[] }) {
  return (
    <span class="saves">
      <button title="save this picture as PNG" onClick={() => savePicture(canvas, name, 'png')}>
        PNG
      </button>
      <button title="save this picture as SVG" onClick={() => savePicture(canvas, name, 'svg')}>
        SVG
      </button>
    </span>
  );
}
