// The keys of the page. By position on the keyboard (`code`), so that they are at hand on every layout.
export interface Binding {
  shown: string;
  does: string;
  code?: string; // bound here; others belong to a view
  shift?: boolean;
  control?: boolean;
  run?: (actions: Actions) => void;
}

export interface Actions {
  view(index: number): void;
  help(): void;
  theme(): void;
  commands(): void;
  search(): void;
  escape(): void;
  click(text: string): void;
}

export const kBindings: Binding[] = [
  { shown: '?', does: 'this help', code: 'Slash', shift: true, run: (a) => a.help() },
  { shown: 'Esc', does: 'close, clear', code: 'Escape', run: (a) => a.escape() },
  { shown: 'Ctrl+K', does: 'commands', code: 'KeyK', control: true, run: (a) => a.commands() },
  { shown: '/', does: 'search', code: 'Slash', run: (a) => a.search() },
  { shown: '1', does: 'overview', code: 'Digit1', run: (a) => a.view(0) },
  { shown: '2', does: 'profile', code: 'Digit2', run: (a) => a.view(1) },
  { shown: '3', does: 'timeline', code: 'Digit3', run: (a) => a.view(2) },
  { shown: '4', does: 'scaling', code: 'Digit4', run: (a) => a.view(3) },
  { shown: 'T', does: 'light or dark', code: 'KeyT', run: (a) => a.theme() },
  { shown: 'H', does: 'hot path', code: 'KeyH', run: (a) => a.click('Hot path') },
  { shown: 'E', does: 'expand all', code: 'KeyE', run: (a) => a.click('Expand') },
  { shown: 'Shift+E', does: 'collapse all', code: 'KeyE', shift: true, run: (a) => a.click('Collapse') },
  { shown: '↑ ↓', does: 'rows' },
  { shown: '→ ← Space', does: 'open and close a node' },
  { shown: 'Enter Backspace', does: 'into the subtree, out of it' },
];

export function bind(actions: Actions): void {
  addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    const typing = target.matches('input, select, textarea');
    if (typing && event.code !== 'Escape' && !(event.ctrlKey && event.code === 'KeyK')) return;
    const control = event.ctrlKey || event.metaKey;
    const found = kBindings.find(
      (b) =>
        b.run &&
        b.code === event.code &&
        (b.shift ?? false) === event.shiftKey &&
        (b.control ?? false) === control &&
        !event.altKey,
    );
    if (!found) return;
    found.run!(actions);
    event.preventDefault();
  });
}
