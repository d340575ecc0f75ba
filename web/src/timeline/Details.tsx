// What is known of a moment: the call stack with all native arguments, what the pixel is made of.
import { readable, timeText } from '../data/format';
import { useAsk } from '../state/ask';
import { change, withExtra } from '../state/state';
import { colourOf, css } from '../theme/palette';
import { Failed } from '../widgets/Failed';
import type { WindowData } from './SelectionTab';

export interface Call {
  name: string;
  kind: string;
  begin_ns: number;
  end_ns?: number;
  region: number;
  detail: string;
}
export interface At {
  open: Call[];
}

interface Props {
  dataset: number;
  channel: number;
  location: number;
  ns: number;
  pixel: number; // ns
  name: string;
  window: number;
  found: At | null;
  failure: { message: string } | null;
  focus: (region: number) => void;
  select: (call: Call) => void;
}

// The node of the call tree that the innermost call belongs to.
function inTree(open: Call[]): void {
  const path = open.filter((c) => c.region >= 0).map((c) => c.name);
  change({ view: 'profile', tree: 'topdown', root: -1, rest: withExtra({ find: `path:${path.join('->')}` }) });
}

export function Details(p: Props) {
  const half = Math.max(1, p.pixel / 2);
  const mix = useAsk<WindowData>(`${p.dataset}/window`, {
    channel: p.channel,
    rows: String(p.location),
    t0: Math.max(0, Math.floor(p.ns - half)),
    t1: Math.ceil(p.ns + half),
  });
  const sum = mix.data?.rows.reduce((s, r) => s + r.own_ns, 0) ?? 0;
  return (
    <>
      <div class="fact">
        <strong>{p.name}</strong>
        <div class="number" style={{ textAlign: 'left' }}>
          {timeText(p.ns, p.window)}
        </div>
      </div>
      {p.failure && <Failed failure={p.failure as never} again={() => undefined} />}
      {p.found?.open
        .slice()
        .reverse()
        .map((call, i) => (
          <div
            key={i}
            class="fact"
            data-call={call.name}
            data-kind={call.kind}
            data-begin={call.begin_ns}
            data-end={call.end_ns}
          >
            <span class="swatch" style={{ background: css(colourOf(call.name)) }} />
            <strong style={{ overflowWrap: 'anywhere' }}>{call.name}</strong>
            {call.kind !== 'sample' && (
              <div class="number" style={{ textAlign: 'left' }}>
                {timeText(call.begin_ns, p.window)}
                {call.end_ns !== undefined ? `, ${readable((call.end_ns - call.begin_ns) / 1e9, 's')}` : ''}
              </div>
            )}
            {call.kind === 'compute' && <div class="quiet">between calls: nothing that was recorded is open</div>}
            {i === 0 && (
              <div style={{ margin: '4px 0' }}>
                {call.region >= 0 && <button onClick={() => p.focus(call.region)}>Only this function</button>}{' '}
                {call.end_ns !== undefined && <button onClick={() => p.select(call)}>Select</button>}{' '}
                {call.region >= 0 && <button onClick={() => inTree(p.found!.open)}>In the call tree</button>}
              </div>
            )}
            {call.detail && (
              <table class="plain">
                <tbody>
                  {call.detail.split(';').map((pair) => (
                    <tr key={pair}>
                      <th>{pair.split('=')[0]}</th>
                      <td class="number" style={{ textAlign: 'left', whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
                        {pair.slice(pair.indexOf('=') + 1)}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </div>
        ))}
      {p.found && !p.found.open.length && <div class="fact quiet">Nothing is open at this moment.</div>}
      {mix.data && sum > 0 && (
        <div class="fact">
          <strong>This pixel</strong>
          <span class="quiet"> ({readable((2 * half) / 1e9, 's')})</span>
          <table class="plain" style={{ width: '100%' }}>
            <tbody>
              {mix.data.rows
                .filter((r) => r.own_ns > 0)
                .slice(0, 8)
                .map((r) => (
                  <tr key={r.name}>
                    <td class="cut" style={{ maxWidth: '190px' }} title={r.name}>
                      <span class="swatch" style={{ background: css(colourOf(r.name)) }} />
                      {r.name}
                    </td>
                    <td class="number">{((100 * r.own_ns) / sum).toFixed(1)}%</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
