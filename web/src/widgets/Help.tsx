// What the keys do: made from the table that binds them.
import { kBindings } from '../state/keys';

export function Help({ close }: { close: () => void }) {
  return (
    <div class="veil" onClick={close}>
      <div class="sheet" role="dialog" aria-label="keyboard" onClick={(e) => e.stopPropagation()}>
        <h2>Keyboard</h2>
        <dl class="keys">
          {kBindings.map((b) => (
            <div key={b.shown}>
              <dt>
                {b.shown.split(' ').map((k) => (
                  <kbd key={k}>{k}</kbd>
                ))}
              </dt>
              <dd>{b.does}</dd>
            </div>
          ))}
        </dl>
      </div>
    </div>
  );
}
