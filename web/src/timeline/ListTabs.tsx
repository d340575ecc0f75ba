// Messages and waits of the window as tables.
import { readable, timeText } from '../data/format';
import { useAsk } from '../state/ask';
import { Failed } from '../widgets/Failed';
import type { Query } from '../data/source';
import type { Messages, Waits } from './overlays';

interface Jump {
  rowName: (row: number) => string;
  jump: (row: number, ns: number) => void;
  span: number;
}

export function MessagesTab(
  p: Jump & { dataset: number; query: Query; pair: [number, number] | null; all: () => void },
) {
  const asked = useAsk<Messages>(`${p.dataset}/messages`, {
    ...p.query,
    most: 500,
    src: p.pair ? p.pair[0] : undefined,
    dst: p.pair ? p.pair[1] : undefined,
  });
  const data = asked.data;
  if (asked.failure) return <Failed failure={asked.failure} again={asked.again} />;
  if (!data) return <div class="empty">Matching messages…</div>;
  if (!data.all)
    return <div class="empty">No messages: this trace tells of no sends and receives that belong together.</div>;
  return (
    <>
      <div class="bar">
        <span data-messages={data.count} data-bytes={data.bytes}>
          {data.count.toLocaleString('en')} messages, {readable(data.bytes, 'bytes')}
          {p.pair ? ` from rank ${p.pair[0]} to ${p.pair[1]}` : ''}
          {data.untimed ? `; ${data.untimed.toLocaleString('en')} without times left out` : ''}
        </span>
        {p.pair && <button onClick={p.all}>All pairs</button>}
        {data.bundles && <span class="quiet">More than 500: bundles. Zoom in, or choose a pair in the matrix.</span>}
      </div>
      <div style={{ overflow: 'auto', flex: 1 }}>
        <table class="plain legend">
          <thead>
            <tr>
              <th>from</th>
              <th>to</th>
              <th class="number">sent</th>
              <th class="number">received</th>
              <th class="number">on the way</th>
              <th class="number">bytes</th>
              <th class="number">tag</th>
              <th>communicator</th>
            </tr>
          </thead>
          <tbody>
            {(data.messages ?? []).map((m, i) => (
              <tr key={i} data-sent={m[2]} data-received={m[3]} data-size={m[4]}>
                <td>
                  <button class="link" onClick={() => p.jump(m[0]!, m[2]!)}>
                    {p.rowName(m[0]!)}
                  </button>
                </td>
                <td>
                  <button class="link" onClick={() => p.jump(m[1]!, m[3]!)}>
                    {p.rowName(m[1]!)}
                  </button>
                </td>
                <td class="number">{timeText(m[2]!, p.span)}</td>
                <td class="number">{timeText(m[3]!, p.span)}</td>
                <td class="number">{readable((m[3]! - m[2]!) / 1e9, 's')}</td>
                <td class="number">{m[4]!.toLocaleString('en')}</td>
                <td class="number">{m[5]}</td>
                <td>{data.communicators[m[6]!] || (m[6]! >= 0 ? m[6] : '')}</td>
              </tr>
            ))}
            {(data.bundles ?? [])
              .slice()
              .sort((a, b) => b[4]! - a[4]!)
              .slice(0, 200)
              .map((b, i) => {
                const rows = (block: number) => {
                  const size = data.row_block ?? 1;
                  return size > 1 ? `rows ${block * size}–${(block + 1) * size - 1}` : p.rowName(block);
                };
                return (
                  <tr key={`b${i}`} data-bundle={b[4]}>
                    <td>{rows(b[0]!)}</td>
                    <td>{rows(b[1]!)}</td>
                    <td class="number">≈ {timeText(b[2]!, p.span)}</td>
                    <td class="number">≈ {timeText(b[3]!, p.span)}</td>
                    <td class="number">{readable(b[6]! / 1e9, 's')}</td>
                    <td class="number">{b[5]!.toLocaleString('en')}</td>
                    <td class="number" colSpan={2}>
                      {b[4]!.toLocaleString('en')} messages
                    </td>
                  </tr>
                );
              })}
          </tbody>
        </table>
      </div>
    </>
  );
}

export function WaitsTab(p: Jump & { dataset: number; query: Query }) {
  const asked = useAsk<Waits>(`${p.dataset}/waits`, { ...p.query, most: 500 });
  const data = asked.data;
  if (asked.failure) return <Failed failure={asked.failure} again={asked.again} />;
  if (!data) return <div class="empty">Looking for what calls waited for…</div>;
  if (data.why) return <div class="empty">{data.why}</div>;
  if (!data.count) return <div class="empty">Nobody waits in this part of the trace.</div>;
  return (
    <>
      <div class="bar">
        <span data-waits={data.count} data-waited={data.sum_ns}>
          {data.count.toLocaleString('en')} waits, {readable(data.sum_ns / 1e9, 's')}:
        </span>
        {data.kinds.map((k) => (
          <span key={k.kind} class="chip" data-kind={k.kind} data-value={k.ns}>
            {k.kind.replace(/_/g, ' ')} {readable(k.ns / 1e9, 's')}
          </span>
        ))}
      </div>
      <div style={{ overflow: 'auto', flex: 1 }}>
        <table class="plain legend">
          <thead>
            <tr>
              <th>who waits</th>
              <th>in</th>
              <th class="number">from</th>
              <th class="number">for</th>
              <th>because of</th>
              <th>kind</th>
            </tr>
          </thead>
          <tbody>
            {data.waits.map(([row, begin, end, kind, culprit, call], i) => (
              <tr key={i}>
                <td>
                  <button class="link" onClick={() => p.jump(row, begin)}>
                    {p.rowName(row)}
                  </button>
                </td>
                <td>{call}</td>
                <td class="number">{timeText(begin, p.span)}</td>
                <td class="number">{readable((end - begin) / 1e9, 's')}</td>
                <td>
                  <button class="link" onClick={() => p.jump(culprit, end)}>
                    {p.rowName(culprit)}
                  </button>
                </td>
                <td>{kind.replace(/_/g, ' ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
