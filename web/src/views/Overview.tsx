// What the dataset is, how large, what was noticed while reading, and where to go.
import { infoText } from '../data/format';
import type { Dataset } from '../data/types';
import { isLive, useAsk } from '../state/ask';
import { change, kViews } from '../state/state';
import { whyNot } from '../state/views';

const kCounts = ['metrics', 'contexts', 'regions', 'locations', 'events', 'points', 'callpaths', 'parameters'];

// What a report does not hold.
function LeftOut() {
  const asked = useAsk<{ left_out: string[] }>(isLive() ? null : 'left-out');
  if (!asked.data?.left_out.length) return null;
  return (
    <>
      <h2>Not in this report</h2>
      <ul class="quiet" data-left-out={asked.data.left_out.length}>
        {asked.data.left_out.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </>
  );
}

export function Overview({ dataset }: { dataset: Dataset }) {
  const counts = dataset.info.filter(([key, value]) => kCounts.includes(key) && !Array.isArray(value));
  const rest = dataset.info.filter(([key, value]) => !kCounts.includes(key) || Array.isArray(value));
  return (
    <div class="page">
      <h2>{dataset.name}</h2>
      <p class="quiet" style={{ marginTop: 0 }}>
        {dataset.title}
        {dataset.version ? `, version ${dataset.version}` : ''} · {dataset.path}
      </p>
      <div class="cards">
        {counts.map(([key, value]) => (
          <div class="card" key={key} data-info={key} data-value={String(value)}>
            <div class="value">{infoText(value)}</div>
            <div class="label">{key}</div>
          </div>
        ))}
      </div>
      <div class="doors">
        {kViews
          .filter((v) => v.name !== 'overview')
          .map((v) => {
            const reason = whyNot(dataset, v.name);
            return (
              <button key={v.name} disabled={reason !== ''} title={reason} onClick={() => change({ view: v.name })}>
                {v.title}
              </button>
            );
          })}
      </div>
      {dataset.diagnostics.length > 0 ? (
        <h2>{`${dataset.diagnostics.length} remarks on the input`}</h2>
      ) : (
        <p class="quiet">Nothing to remark on the input.</p>
      )}
      {dataset.diagnostics.length > 0 && (
        <table class="plain" style={{ marginBottom: '20px' }}>
          <tbody>
            {dataset.diagnostics.map((d) => (
              <tr key={d.id + d.place}>
                <td
                  class={d.severity === 'info' ? 'quiet' : ''}
                  style={d.severity === 'info' ? {} : { color: 'var(--warn)' }}
                >
                  {d.severity.replace('_', ' ')}
                </td>
                <td class="number">{d.count > 1 ? `${d.count}×` : ''}</td>
                <td>{d.text}</td>
                <td class="quiet">{d.place}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <LeftOut />
      {rest.length > 0 && (
        <>
          <h2>About it</h2>
          <table class="plain">
            <tbody>
              {rest.map(([key, value]) => (
                <tr key={key}>
                  <th>{key}</th>
                  <td data-info={key}>{infoText(value)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </div>
  );
}
