// What is under the pointer; otherwise what is shown, and how far the reading is.
import { readable, timeText } from '../data/format';
import type { Row, TimelineData } from '../data/timeline';
import type { Hover } from './Chart';
import { messageText, type Messages } from './overlays';

interface Props {
  data: TimelineData;
  rows: Row[];
  under: Hover | null;
  messages: Messages | null;
  from: number;
  to: number;
  cancel: () => void;
  restart: () => void;
}

export function StatusLine(p: Props) {
  return (
    <div class="detail" aria-live="polite" data-index={p.data.state} data-stored={String(p.data.stored)}>
      {p.under ? <Under {...p} under={p.under} /> : <span class="quiet">{<Shown {...p} />}</span>}
    </div>
  );
}

function Under({ under, rows, messages, from, to }: Props & { under: Hover }) {
  return (
    <>
      <strong>{rows[under.row]?.label}</strong> <span class="number">{timeText(under.ns, to - from)}</span>{' '}
      {under.message && messages ? messageText(messages, under.message) : under.text}
    </>
  );
}

function Shown({ data, messages, from, to, cancel, restart }: Props) {
  const rows = data.rows.label.length;
  if (data.state === 'building')
    return (
      <>
        ≈ reading: {data.rows_ready} of {rows} rows, {data.events_read.toLocaleString('en')} events,{' '}
        {readable(data.events_read / Math.max(0.1, data.seconds), '')}/s <button onClick={cancel}>Cancel</button>
      </>
    );
  if (data.state === 'cancelled')
    return (
      <>
        ≈ reading was cancelled: {data.rows_ready} of {rows} rows are there <button onClick={restart}>Go on</button>
      </>
    );
  return (
    <>
      {timeText(from, to - from)} – {timeText(to, to - from)} ({readable((to - from) / 1e9, 's')}),{' '}
      {data.transitions.toLocaleString('en')} changes,{' '}
      {data.held
        ? data.held.text
        : `exact, index ${readable(data.index_bytes, 'bytes')}${data.stored ? ' from its file' : ''}`}
      {messages?.bundles ? `, ${messages.count.toLocaleString('en')} messages in bundles` : ''}
    </>
  );
}
