// What the keys do: made from the table that binds them.
import { kBindings } from '../state/keys';

export function Help({ close }: { close: () => void }) {
  return (
    <div class="veil" onClick={close}>
      <div class="sheet" role="dialog" aria-label="keyboard" onClick={(e) => e.stopPropagation()}>
        <h2>Keyboard</h2>
        <table class="plain">
          <tbody>
            {kBindings.map((b) => (
              <tr key={b.shown}>
                <td>
                  {b.shown.split(' ').map((k) => (
                    <kbd key={k}>{k}</kbd>
                  ))}
                </td>
                <td>{b.does}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
