// The differential flame graph: width is the time after, colour the change; what is gone stands as an outline.
import { useMemo, useState } from 'preact/hooks';
import { relativeOf, relativeText, type ComparedNode } from '../data/compare';
import { readable } from '../data/format';
import type { ComparedTree } from '../data/types';
import { fitText } from '../draw/text';
import { inkOn } from '../theme/palette';
import { PictureButtons } from './SaveButtons';
import { themeColour, useCanvas } from './useCanvas';

interface Box {
  node: ComparedNode;
  before: number | null;
  after: number | null;
  x: number;
  width: number;
  depth: number;
}

const kHeight = 18;
const kNone = [217, 220, 225];
const kLess = [43, 123, 186];
const kMore = [196, 84, 28];

// From none to a doubling or a halving.
export function changeColour(relative: number): number[] {
  const share = Math.min(1, Math.abs(relative === Infinity ? 1 : relative));
  const to = relative < 0 ? kLess : kMore;
  return kNone.map((c, i) => Math.round(c + ((to[i] ?? 0) - c) * share));
}

export function CompareFlame(props: {
  roots: ComparedNode[];
  unit: string;
  inclusive: ComparedTree;
  name: (string | undefined)[];
}) {
  const [under, setUnder] = useState<Box | null>(null);
  const [top, setTop] = useState<number | null>(null);
  const boxes = useMemo(() => {
    const place = new Map(props.inclusive.node.map((n, i) => [n, i]));
    const value = (n: ComparedNode, side: 'before_inclusive' | 'after_inclusive') =>
      props.inclusive[side][place.get(n.node) ?? -1] ?? null;
    // What is gone keeps the width it had.
    const wide = (n: ComparedNode) => Math.abs(value(n, 'after_inclusive') ?? value(n, 'before_inclusive') ?? 0);
    const find = (nodes: ComparedNode[]): ComparedNode | undefined => {
      for (const n of nodes) {
        if (n.node === top) return n;
        const below = find(n.children);
        if (below) return below;
      }
      return undefined;
    };
    const chosen = top === null ? undefined : find(props.roots);
    const start = chosen ? [chosen] : props.roots;
    const total = start.reduce((sum, n) => sum + wide(n), 0);
    const out: Box[] = [];
    const add = (nodes: ComparedNode[], x: number, depth: number, room: number) => {
      const sum = nodes.reduce((all, n) => all + wide(n) / total, 0);
      const scale = sum > room && sum > 0 ? room / sum : 1; // gone children need not fit beside new ones
      for (const n of [...nodes].sort((p, q) => wide(q) - wide(p))) {
        const width = (wide(n) / total) * scale;
        if (width >= 1 / 4000) {
          out.push({
            node: n,
            before: value(n, 'before_inclusive'),
            after: value(n, 'after_inclusive'),
            x,
            width,
            depth,
          });
          add(n.children, x, depth + 1, width);
        }
        x += width;
      }
    };
    if (total > 0) add(start, 0, 0, 1);
    return out;
  }, [props.roots, props.inclusive, top]);
  const { canvas, attach } = useCanvas(
    ({ context, width: w }) => {
      context.font = `11px ${themeColour('font')}`;
      context.textBaseline = 'middle';
      for (const box of boxes) {
        const x = box.x * w;
        const wide = Math.max(box.width * w, 0.5);
        const y = box.depth * kHeight + 4;
        const gone = box.after === null;
        const rgb = changeColour(relativeOf(box.before ?? 0, box.after ?? 0));
        if (gone) {
          context.strokeStyle = themeColour('quiet');
          context.setLineDash([3, 2]);
          context.lineWidth = 1;
          context.strokeRect(x + 0.5, y + 0.5, Math.max(wide - 2, 0.5), kHeight - 2);
          context.setLineDash([]);
        } else {
          context.fillStyle = `rgb(${rgb.join(' ')})`;
          context.fillRect(x, y, Math.max(wide - (wide > 3 ? 1 : 0), 0.5), kHeight - 1);
          if (box.before === null) {
            context.strokeStyle = themeColour('text');
            context.lineWidth = 1.5;
            context.strokeRect(x + 1, y + 1, Math.max(wide - 3, 0.5), kHeight - 3);
          }
        }
        if (wide >= 24) {
          context.fillStyle = gone ? themeColour('text') : inkOn(rgb);
          const mark = gone ? 'gone: ' : box.before === null ? 'new: ' : '';
          context.fillText(fitText(context, mark + box.node.name, wide - 8), x + 4, y + kHeight / 2);
        }
      }
    },
    [boxes, document.documentElement.dataset['theme']],
  );
  const find = (event: MouseEvent): Box | null => {
    const bounds = canvas!.getBoundingClientRect();
    const x = (event.clientX - bounds.left) / bounds.width;
    const depth = Math.floor((event.clientY - bounds.top - 4) / kHeight);
    return boxes.find((b) => b.depth === depth && x >= b.x && x < b.x + b.width) ?? null;
  };
  const deepest = boxes.reduce((most, b) => Math.max(most, b.depth), 0);
  return (
    <>
      <div class="bar">
        <strong>Flame graph of both</strong>
        <span class="quiet">width: after · colour: change · framed: new · dashed: gone · double click fits</span>
        <span class="spacer" />
        {top !== null && <button onClick={() => setTop(null)}>Whole tree</button>}
        <PictureButtons canvas={canvas} name={[...props.name, 'compare-flame']} />
      </div>
      <div class="stage" style={{ overflowY: 'auto' }}>
        <div style={{ height: `${Math.max(120, (deepest + 1) * kHeight + 12)}px` }}>
          <canvas
            ref={attach}
            class="canvas"
            role="img"
            tabIndex={0}
            aria-label={`flame graph of the comparison, ${boxes.length} boxes`}
            data-compare-boxes={boxes.length}
            onMouseMove={(e) => setUnder(find(e))}
            onMouseLeave={() => setUnder(null)}
            onDblClick={(e) => setTop(find(e)?.node.node ?? null)}
          />
        </div>
      </div>
      <div class="detail" aria-live="polite">
        {under ? (
          <>
            <strong>{under.node.name}</strong>{' '}
            <span class="number">
              {under.before === null ? 'new' : readable(under.before, props.unit)} →{' '}
              {under.after === null ? 'gone' : readable(under.after, props.unit)} (
              {relativeText(relativeOf(under.before ?? 0, under.after ?? 0))})
            </span>
          </>
        ) : (
          <span class="quiet">Point at a box.</span>
        )}
      </div>
    </>
  );
}
