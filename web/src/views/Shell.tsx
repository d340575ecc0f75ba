// The frame around all views: tabs, chips of what is chosen, status line.
import { useEffect, useState } from 'preact/hooks';
import type { Dataset, Session } from '../data/types';
import { useAsk, waiting } from '../state/ask';
import { bind } from '../state/keys';
import { change, kViews, state } from '../state/state';
import { Commands, type Command } from '../widgets/Commands';
import { Failed } from '../widgets/Failed';
import { Help } from '../widgets/Help';
import { Overview } from './Overview';
import { Profile } from './Profile';
import { Scaling } from './Scaling';
import { Timeline } from './Timeline';

function toggleTheme(): void {
  const dark =
    getComputedStyle(document.documentElement).colorScheme.includes('dark') &&
    !getComputedStyle(document.documentElement).colorScheme.includes('light');
  const now =
    document.documentElement.dataset['theme'] ??
    (dark || matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  document.documentElement.dataset['theme'] = now === 'dark' ? 'light' : 'dark';
  localStorage.setItem('fathom-theme', document.documentElement.dataset['theme']);
}

// A bar only for what takes a moment: quick answers do not flicker.
function Busy() {
  const [late, setLate] = useState(false);
  const busy = waiting.value > 0;
  useEffect(() => {
    if (!busy) return setLate(false);
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, [busy]);
  return late ? <div class="busy" role="progressbar" aria-label="working" /> : null;
}

export function Shell() {
  const asked = useAsk<Session>('session');
  const [help, setHelp] = useState(false);
  const [commands, setCommands] = useState(false);
  const s = state.value;
  const dataset: Dataset | undefined = asked.data?.datasets[s.dataset] ?? asked.data?.datasets[0];
  const reason = (view: string) => (view === 'overview' ? '' : (dataset?.views[view as keyof Dataset['views']] ?? ''));
  useEffect(() => {
    bind({
      view: (i) => change({ view: kViews[i]?.name ?? 'overview' }),
      help: () => setHelp((on) => !on),
      theme: toggleTheme,
      commands: () => setCommands((on) => !on),
      search: () => document.querySelector<HTMLInputElement>('input[type=search]')?.focus(),
      escape: () => {
        setHelp(false);
        setCommands(false);
        (document.activeElement as HTMLElement | null)?.blur();
      },
      click: (text) => [...document.querySelectorAll('button')].find((b) => b.textContent === text)?.click(),
    });
  }, []);
  useEffect(() => {
    if (dataset) document.title = `${dataset.name} – Fathom`;
  }, [dataset?.name]);
  if (asked.failure) return <Failed failure={asked.failure} again={asked.again} />;
  if (!asked.data || !dataset) return <div class="empty">Opening…</div>;
  const list: Command[] = [
    ...kViews
      .filter((v) => !reason(v.name))
      .map((v) => ({ title: `Go to ${v.title}`, run: () => change({ view: v.name }) })),
    ...asked.data.datasets.map((d, i) => ({
      title: `Open ${d.name}`,
      run: () => change({ dataset: i, node: -1, root: -1, locations: '' }),
    })),
    { title: 'Light or dark', run: toggleTheme },
    { title: 'Keyboard help', run: () => setHelp(true) },
    { title: 'Copy link', run: () => void navigator.clipboard?.writeText(location.href) },
    { title: 'All locations', run: () => change({ locations: '' }) },
    { title: 'Whole tree', run: () => change({ root: -1 }) },
  ];
  const warnings = dataset.diagnostics.filter((d) => d.severity !== 'info').length;
  const info = new Map(dataset.info);
  return (
    <div class="shell">
      <header class="top">
        <span class="brand">Fathom</span>
        {asked.data.datasets.length > 1 ? (
          <select
            aria-label="dataset"
            value={String(s.dataset)}
            onChange={(e) => change({ dataset: Number(e.currentTarget.value), node: -1, root: -1, locations: '' })}
          >
            {asked.data.datasets.map((d, i) => (
              <option key={d.path} value={String(i)}>
                {d.name}
              </option>
            ))}
          </select>
        ) : (
          <span class="cut" style={{ maxWidth: '260px' }} title={dataset.path}>
            {dataset.name}
          </span>
        )}
        <nav class="tabs" role="tablist">
          {kViews.map((v) => (
            <button
              key={v.name}
              role="tab"
              aria-selected={s.view === v.name}
              disabled={reason(v.name) !== ''}
              title={reason(v.name)}
              onClick={() => change({ view: v.name })}
            >
              {v.title}
            </button>
          ))}
        </nav>
        <span class="spacer" />
        <button onClick={() => setCommands(true)} title="Ctrl+K">
          ⌕
        </button>
        <button onClick={toggleTheme} title="light or dark (T)" aria-label="light or dark">
          ◐
        </button>
        <button onClick={() => setHelp(true)} title="?" aria-label="help">
          ?
        </button>
      </header>
      <div class="chips">
        <span class="chip">{dataset.title}</span>
        {s.locations && (
          <span class="chip">
            locations {s.locations.length > 30 ? `${s.locations.slice(0, 30)}…` : s.locations}
            <button aria-label="all locations" onClick={() => change({ locations: '' })}>
              ✕
            </button>
          </span>
        )}
        {s.root >= 0 && (
          <span class="chip">
            one subtree
            <button aria-label="whole tree" onClick={() => change({ root: -1 })}>
              ✕
            </button>
          </span>
        )}
      </div>
      <main class="main">
        <Busy />
        {s.view === 'profile' && !reason('profile') ? (
          <Profile />
        ) : s.view === 'scaling' && !reason('scaling') ? (
          <Scaling />
        ) : s.view === 'timeline' && !reason('timeline') ? (
          <Timeline />
        ) : s.view === 'overview' ? (
          <Overview dataset={dataset} />
        ) : (
          <div class="empty">{reason(s.view)}</div>
        )}
      </main>
      <footer class="status">
        <span>
          {dataset.format} {dataset.version}
        </span>
        {['locations', 'contexts', 'metrics', 'events']
          .filter((k) => info.get(k) !== undefined && info.get(k) !== null)
          .map((k) => (
            <span key={k}>
              {String(info.get(k))} {k}
            </span>
          ))}
        <span class="spacer" />
        {warnings > 0 && (
          <button style={{ height: '18px', color: 'var(--warn)' }} onClick={() => change({ view: 'overview' })}>
            {warnings} warnings ▸
          </button>
        )}
        <span>fathom {asked.data.fathom}</span>
      </footer>
      {help && <Help close={() => setHelp(false)} />}
      {commands && <Commands commands={list} close={() => setCommands(false)} />}
    </div>
  );
}
