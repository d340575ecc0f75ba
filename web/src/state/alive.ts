// Whether the server is still there: asked once a minute while somebody looks, which also keeps it from ending.
import { signal } from '@preact/signals';

export const gone = signal(false);

const kMinute = 60_000;

export function keepAlive(ask: () => Promise<unknown>): void {
  const ping = () => {
    if (document.visibilityState !== 'visible') return;
    ask().then(
      () => (gone.value = false),
      () => (gone.value = true),
    );
  };
  setInterval(ping, kMinute);
  document.addEventListener('visibilitychange', ping);
}
