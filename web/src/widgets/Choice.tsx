// One of a few values of the state.
import { change, state, type State } from '../state/state';

export function Choice<K extends keyof State>(props: {
  name: K;
  label: string;
  options: [State[K], string][];
  also?: Partial<State>;
}) {
  return (
    <select
      aria-label={props.label}
      value={String(state.value[props.name])}
      onChange={(e) => change({ ...props.also, [props.name]: e.currentTarget.value as State[K] })}
    >
      {props.options.map(([value, title]) => (
        <option key={String(value)} value={String(value)}>
          {title}
        </option>
      ))}
    </select>
  );
}
