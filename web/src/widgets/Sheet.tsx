// A sheet over the page; a click beside it or Esc closes it.
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

export function Sheet({ label, close, children }: { label: string; close: () => void; children: ComponentChildren }) {
  useEffect(() => {
    const key = (event: KeyboardEvent) => event.key === 'Escape' && close();
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  }, []);
  return (
    <div class="veil" onClick={close}>
      <div class="sheet" role="dialog" aria-label={label} onClick={(e) => e.stopPropagation()}>
        {children}
      </div>
    </div>
  );
}
