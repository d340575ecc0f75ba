// The command palette: everything that can be done, found by a part of its name.
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Command {
  title: string;
  run: () => void;
}

export function Commands({ commands, close }: { commands: Command[]; close: () => void }) {
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const found = commands.filter((c) =>
    query
      .toLowerCase()
      .split(/\s+/)
      .every((w) => c.title.toLowerCase().includes(w)),
  );
  const run = (command: Command | undefined) => {
    close();
    command?.run();
  };
  return (
    <div class="veil" onClick={close}>
      <div class="sheet" role="dialog" aria-label="commands" onClick={(e) => e.stopPropagation()}>
        <input
          ref={input}
          style={{ width: '100%' }}
          aria-label="command"
          placeholder="what to do"
          value={query}
          onInput={(e) => {
            setQuery(e.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={(e) => {
            if (e.key === 'ArrowDown') setAt(Math.min(at + 1, found.length - 1));
            else if (e.key === 'ArrowUp') setAt(Math.max(at - 1, 0));
            else if (e.key === 'Enter') run(found[at]);
            else return;
            e.preventDefault();
          }}
        />
        <div role="listbox" style={{ marginTop: '8px' }}>
          {found.map((c, i) => (
            <div
              key={c.title}
              role="option"
              aria-selected={i === at}
              class="cut"
              style={{ padding: '2px 8px', cursor: 'pointer', background: i === at ? 'var(--selected)' : '' }}
              onClick={() => run(c)}
            >
              {c.title}
            </div>
          ))}
          {!found.length && <div class="quiet">Nothing is called that.</div>}
        </div>
      </div>
    </div>
  );
}
