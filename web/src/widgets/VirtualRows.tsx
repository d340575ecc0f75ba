// A long list of rows of one height: only those that can be seen are in the page.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface Props {
  count: number;
  height: number;
  head?: ComponentChildren;
  headHeight?: number;
  row: (index: number, style: { top: string; height: string }) => ComponentChildren;
  reveal?: number; // row that must be in sight
  label: string;
  columns?: number;
  onKeyDown?: (event: KeyboardEvent) => void;
}

export function VirtualRows(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [size, setSize] = useState(400);
  useEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => setSize(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const headHeight = props.headHeight ?? 0;
  useEffect(() => {
    const element = box.current!;
    if (props.reveal === undefined || props.reveal < 0) return;
    const y = props.reveal * props.height;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + props.height + headHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = y + props.height + headHeight - element.clientHeight;
  }, [props.reveal]);
  const first = Math.max(0, Math.floor(top / props.height) - 10);
  const last = Math.min(props.count, Math.ceil((top + size) / props.height) + 10);
  const rows = [];
  for (let i = first; i < last; ++i)
    rows.push(props.row(i, { top: `${i * props.height}px`, height: `${props.height}px` }));
  return (
    <div
      ref={box}
      class="grid"
      role="treegrid"
      aria-label={props.label}
      aria-rowcount={props.count + 1}
      aria-colcount={props.columns}
      tabIndex={0}
      onScroll={() => setTop(box.current!.scrollTop)}
      onKeyDown={props.onKeyDown}
    >
      {props.head}
      <div style={{ position: 'relative', height: `${props.count * props.height}px` }}>{rows}</div>
    </div>
  );
}
