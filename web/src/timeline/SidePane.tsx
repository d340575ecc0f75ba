// Beside the picture: the message and the moment that were picked, marks, colours of one's own.
import type { ComponentChildren } from 'preact';
import { timeText } from '../data/format';
import { marksText, type Mark } from '../data/timeline';
import { changeExtra } from '../state/state';
import { messageText, type Messages } from './overlays';

interface Props {
  message: number[] | null;
  messages: Messages | null;
  jump: (location: number, ns: number, length?: number) => void;
  marks: Mark[];
  span: number;
  pickedRow: number;
  rules: string;
  children: ComponentChildren; // of the moment
}

export function SidePane(p: Props) {
  return (
    <div class="pane" style={{ overflow: 'auto' }}>
      <div class="bar">
        <strong>Details</strong>
        <span class="spacer" />
        <button onClick={() => changeExtra({ I: '0' }, false)} title="hide (I)" aria-label="hide the details">
          ✕
        </button>
      </div>
      {p.message && p.messages && <PickedMessage {...p} message={p.message} messages={p.messages} />}
      {p.children}
      {p.marks.length > 0 && <Marks {...p} />}
      <div class="fact">
        <strong>Colours of your own</strong>
        <input
          aria-label="colour rules"
          placeholder="MPI_Wait*=#cc0000;/solve/=#00aa44"
          style={{ width: '100%', marginTop: '4px' }}
          value={p.rules}
          onChange={(e) => changeExtra({ rules: e.currentTarget.value })}
        />
      </div>
    </div>
  );
}

function PickedMessage({ message, messages, jump }: Props & { message: number[]; messages: Messages }) {
  return (
    <div class="fact" data-message="1">
      <strong>{messages.messages ? 'Message' : 'Bundle of messages'}</strong>
      <p>{messageText(messages, message)}</p>
      {messages.messages && (
        <>
          <button onClick={() => jump(message[0]!, message[2]!)}>To the sender</button>{' '}
          <button onClick={() => jump(message[1]!, message[3]!)}>To the receiver</button>
        </>
      )}
    </div>
  );
}

function Marks({ marks, jump, span, pickedRow }: Props) {
  const keep = (list: Mark[]) => changeExtra({ marks: marksText(list) });
  const csv = () =>
    ['from_ns,to_ns,note', ...marks.map((m) => `${m.from},${m.to},"${m.note.replace(/"/g, '""')}"`)].join('\n');
  return (
    <div class="fact">
      <strong>Marks</strong>
      {marks.map((mark, i) => (
        <div key={i} style={{ display: 'flex', gap: '4px', marginTop: '4px' }}>
          <button class="link number" onClick={() => jump(pickedRow, mark.from, mark.to - mark.from)}>
            {timeText(mark.from, span)}
          </button>
          <input
            aria-label={`note of mark ${i + 1}`}
            placeholder="note"
            style={{ flex: 1, minWidth: 0 }}
            value={mark.note}
            onChange={(e) => keep(marks.map((m, j) => (j === i ? { ...m, note: e.currentTarget.value } : m)))}
          />
          <button aria-label="remove the mark" onClick={() => keep(marks.filter((_, j) => j !== i))}>
            ✕
          </button>
        </div>
      ))}
      <button style={{ marginTop: '6px' }} onClick={() => void navigator.clipboard?.writeText(csv())}>
        Copy as CSV
      </button>
    </div>
  );
}
