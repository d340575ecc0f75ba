import { render } from 'preact';
import { ReportSource } from './data/report_source';
import { ServerSource, takeKey } from './data/source';
import { keepAlive } from './state/alive';
import { useSource } from './state/ask';
import { change, followAddress } from './state/state';
import './theme/theme.css';
import { Shell } from './views/Shell';

const theme = localStorage.getItem('fathom-theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
const report = ReportSource.find();
if (report) {
  useSource(report);
} else {
  const server = new ServerSource(takeKey());
  useSource(server);
  keepAlive(() => server.bytes('session'));
}
followAddress();
// A report begins with what it found.
if (report && !location.hash) change({ view: 'findings' }, false);
render(<Shell />, document.getElementById('app')!);
