// The flame graph (icicle): the same tree, the same selection, width is time.
import { useMemo, useState } from 'preact/hooks';
import { percent, readable } from '../data/format';
import type { Tree, TreeNode } from '../data/tree';
import { layout, type Box } from '../draw/flame';
import { fitText } from '../draw/text';
import { change, changeExtra, extra, state } from '../state/state';
import { colourOf, css, inkOn } from '../theme/palette';
import { PictureButtons } from './SaveButtons';
import { themeColour, useCanvas } from './useCanvas';

const kHeight = 18;

export function Flame(props: { tree: Tree; start: TreeNode[]; hits: ReadonlySet<number> | null; name: string }) {
  const { tree, start, hits } = props;
  const byName = extra('fo') === 'name';
  const [under, setUnder] = useState<Box | null>(null);
  const boxes = useMemo(() => layout(start, byName, 1 / 4000), [start, byName]);
  const selected = state.value.node;
  const { canvas, attach, width } = useCanvas(
    ({ context, width: w, height }) => {
      context.font = `11px ${themeColour('font')}`;
      context.textBaseline = 'middle';
      const accent = themeColour('accent');
      for (const box of boxes) {
        const x = box.x * w;
        const wide = Math.max(box.width * w, 0.5);
        const y = box.depth * kHeight + 6;
        if (y > height) continue;
        const rgb = colourOf(box.node.name, box.node.paradigm, box.node.role);
        const faint = !!hits && !hits.has(box.node.node);
        context.globalAlpha = faint ? 0.35 : 1;
        context.fillStyle = css(rgb);
        context.fillRect(x, y, Math.max(wide - (wide > 3 ? 1 : 0), 0.5), kHeight - 1);
        if (wide >= 24) {
          // In front of a colour that has given way to the background what is read on that is read best.
          context.globalAlpha = 1;
          context.fillStyle = faint ? themeColour('quiet') : inkOn(rgb);
          context.fillText(fitText(context, box.node.name, wide - 8), x + 4, y + kHeight / 2);
        }
        context.globalAlpha = 1;
        if (box.node.node === selected) {
          context.strokeStyle = accent;
          context.lineWidth = 2;
          context.strokeRect(x + 1, y + 1, Math.max(wide - 3, 1), kHeight - 3);
        }
        // Hits too narrow to see get a mark on the ruler above.
        if (hits?.has(box.node.node)) {
          context.fillStyle = accent;
          context.fillRect(Math.min(x, w - 2), 0, Math.max(2, wide), 4);
        }
      }
    },
    [boxes, selected, hits, document.documentElement.dataset['theme']],
  );
  const find = (event: MouseEvent): Box | null => {
    const bounds = canvas!.getBoundingClientRect();
    const x = (event.clientX - bounds.left) / bounds.width;
    const depth = Math.floor((event.clientY - bounds.top - 6) / kHeight);
    return boxes.find((b) => b.depth === depth && x >= b.x && x < b.x + b.width) ?? null;
  };
  const shown = under?.node ?? tree.byNumber.get(selected) ?? null;
  const metric = tree.metrics[0]!;
  const deepest = boxes.reduce((most, b) => Math.max(most, b.depth), 0);
  return (
    <div class="pane">
      <div class="bar">
        <strong>Flame graph</strong>
        <button aria-pressed={!byName} onClick={() => changeExtra({ fo: '' }, false)}>
          by weight
        </button>
        <button aria-pressed={byName} onClick={() => changeExtra({ fo: 'name' }, false)}>
          by name
        </button>
        <span class="spacer" />
        <span class="quiet">double click fits</span>
        <PictureButtons canvas={canvas} name={[props.name, state.value.tree, 'flame']} />
      </div>
      <div class="stage" style={{ overflowY: 'auto' }}>
        <div style={{ height: `${Math.max(120, (deepest + 1) * kHeight + 12)}px` }}>
          <canvas
            ref={attach}
            class="canvas"
            role="img"
            tabIndex={0}
            aria-label={`flame graph of ${metric.name}, ${boxes.length} boxes`}
            data-boxes={JSON.stringify(boxes.slice(0, 40).map((b) => [b.node.node, b.x * width, b.width * width]))}
            onMouseMove={(event) => setUnder(find(event))}
            onMouseLeave={() => setUnder(null)}
            onClick={(event) => {
              const box = find(event);
              if (box) change({ node: box.node.node }, false);
            }}
            onDblClick={(event) => {
              const box = find(event);
              if (box) change({ root: box.node.node, node: box.node.node });
            }}
          />
        </div>
      </div>
      <div class="detail sides" aria-live="polite">
        {shown ? (
          <>
            <strong class="cut">{shown.name}</strong>
            <span class="number">
              {readable(shown.inclusive[0] ?? NaN, metric.unit)} inclusive (
              {percent(shown.inclusive[0] ?? NaN, metric.total)}), {readable(shown.exclusive[0] ?? NaN, metric.unit)}{' '}
              exclusive
            </span>
            <span class="quiet cut">{shown.place}</span>
          </>
        ) : (
          <span class="quiet">Point at a box.</span>
        )}
      </div>
    </div>
  );
}
