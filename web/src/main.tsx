import { render } from 'preact';
import { ReportSource, ServerSource, takeKey } from './data/source';
import { useSource } from './state/ask';
import { followAddress } from './state/state';
import './theme/theme.css';
import { Shell } from './views/Shell';

const theme = localStorage.getItem('fathom-theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
const report = ReportSource.find();
useSource(report ?? new ServerSource(takeKey()));
followAddress();
render(<Shell />, document.getElementById('app')!);
