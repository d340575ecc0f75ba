// Taking the page along: a link with the secret, or a file that opens the same datasets and views again.
import { download } from '../data/export';
import { keyName } from '../data/source';
import type { Session } from '../data/types';
import { ask } from './ask';

export function linkWithKey(): string {
  const [page, fragment = ''] = location.href.split('#');
  const key = sessionStorage.getItem(keyName) ?? '';
  return `${page}#k=${key}${fragment ? `&${fragment}` : ''}`;
}

// `fathom view --session FILE` reads it.
export async function saveSession(): Promise<void> {
  const session = await ask<Session>('session', { folder: 1 });
  const content = {
    fathom_session: 1,
    folder: session.folder,
    paths: session.datasets.map((d) => d.path),
    view: location.hash.slice(1),
  };
  download('session.fathom.json', JSON.stringify(content, null, 2) + '\n', 'application/json');
}
