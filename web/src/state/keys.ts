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
  { shown: '5', does: 'compare', code: 'Digit5', run: (a) => a.view(4) },
  { shown: '6', does: 'SQL', code: 'Digit6', run: (a) => a.view(5) },
  { shown: '7', does: 'findings', code: 'Digit7', run: (a) => a.view(6) },
  { shown: 'T', does: 'light or dark', code: 'KeyT', run: (a) => a.theme() },
  { shown: 'H', does: 'hot path', code: 'KeyH', run: (a) => a.click('Hot path') },
  { shown: 'E', does: 'expand all', code: 'KeyE', run: (a) => a.click('Expand') },
  { shown: 'Shift+E', does: 'collapse all', code: 'KeyE', shift: true, run: (a) => a.click('Collapse') },
  { shown: 'W S + −', does: 'timeline: zoom at the pointer or the selection' },
  { shown: 'A D ← →', does: 'timeline: move; with Shift a page' },
  { shown: '0 Home End', does: 'timeline: the whole, its ends' },
  { shown: '[ ]', does: 'timeline: less and more depth' },
  { shown: ', .', does: 'timeline: call before and behind; with Shift of the same function' },
  { shown: 'F', does: 'timeline: to the middle, again: as large as it gets' },
  { shown: 'R', does: 'timeline: select the call' },
  { shown: 'Z Shift+Z', does: 'timeline: undo and redo zooms' },
  { shown: 'M Shift+M', does: 'timeline: mark the moment, the selection' },
  { shown: 'P G', does: 'timeline: pin the row, close or open its group' },
  { shown: 'L Q I', does: 'timeline: lines of messages, drawer, details on and off' },
  { shown: 'C Shift+C', does: 'timeline: copy the call, the link' },
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
