// Which views a dataset has; the reason where it has one not.
import type { Dataset } from '../data/types';
import { isLive } from './ask';

export function whyNot(dataset: Dataset | undefined, view: string): string {
  if (view === 'overview' || !dataset) return '';
  const reason = dataset.views[view as keyof Dataset['views']] ?? '';
  if (isLive() || reason) return reason;
  if (view === 'sql') return 'a report holds no SQL engine: open the data with fathom view';
  return '';
}
