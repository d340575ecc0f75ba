// The frame around all views: tabs, chips of what is chosen, status line.
import { useEffect, useState } from 'preact/hooks';
import { infoText, readable } from '../data/format';
import type { Dataset, Session } from '../data/types';
import { gone } from '../state/alive';
import { isLive, useAsk, waiting } from '../state/ask';
import { bind } from '../state/keys';
import { linkWithKey, saveSession } from '../state/session';
import { dropFromShape, kVerbs, shapeLines, type ShapeKind } from '../state/shape';
import { change, extra, kViews, state, type ViewName } from '../state/state';
import { whyNot } from '../state/views';
import { Commands, type Command } from '../widgets/Commands';
import { Failed } from '../widgets/Failed';
import { savePicture } from '../widgets/useCanvas';
import { Help } from '../widgets/Help';
import { Compare } from './Compare';
import { FindingsView } from './Findings';
import { Overview } from './Overview';
import { Profile } from './Profile';
import { Scaling } from './Scaling';
import { Sql } from './Sql';
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

// Every picture that is shown can be saved.
function pictureCommands(name: string): Command[] {
  return [...document.querySelectorAll<HTMLCanvasElement>('main canvas')].flatMap((canvas) =>
    (['png', 'svg'] as const).map((kind) => {
      const label = canvas.getAttribute('aria-label') ?? state.value.view;
      return {
        title: `Save ${label} as ${kind.toUpperCase()}`,
        run: () => savePicture(canvas, [name, state.value.view, label.split(',')[0], extra('w')], kind),
      };
    }),
  );
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

// What a view would need, where a dataset has nothing for it.
const kFilledBy: Partial<Record<ViewName, string>> = {
  profile: 'A profile comes from Cube, HPCToolkit, TAU, gprof, perf, pprof … or is made from a trace.',
  timeline: 'A timeline is drawn from a trace: OTF2, DUMPI, ovni, Paraver, HPCToolkit with a trace, Chrome JSON …',
  scaling: 'Models need runs of several sizes: a directory of them, or an Extra-P experiment.',
  compare: 'Two datasets are compared: fathom view BEFORE AFTER.',
};

export function Shell() {
  const asked = useAsk<Session>('session');
  const [help, setHelp] = useState(false);
  const [commands, setCommands] = useState(false);
  const s = state.value;
  const dataset: Dataset | undefined = asked.data?.datasets[s.dataset] ?? asked.data?.datasets[0];
  const reason = (view: string) => whyNot(dataset, view);
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
    ...(isLive()
      ? [
          { title: 'Copy link with the key', run: () => void navigator.clipboard?.writeText(linkWithKey()) },
          { title: 'Save these views', run: () => void saveSession() },
        ]
      : []),
    ...pictureCommands(dataset.name),
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
        {s.rest['pw'] && (
          <span class="chip" data-window={s.rest['pw']}>
            window{' '}
            {s.rest['pw']
              .split('-')
              .map((ns) => readable(Number(ns) / 1e9, 's'))
              .join(' – ')}
            <button
              aria-label="the whole run"
              onClick={() => change({ node: -1, root: -1, rest: { ...s.rest, pw: '' } })}
            >
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
        {(['derive', 'cubepl', 'hide'] as ShapeKind[]).flatMap((kind) =>
          shapeLines(kind).map((line) => (
            <span class="chip" key={kind + line}>
              <span class="cut" style={{ maxWidth: '220px' }} title={line}>
                {kind === 'hide'
                  ? `${line.slice(line.indexOf(' ') + 1)} ${kVerbs[line.split(' ')[0] ?? ''] ?? ''}`
                  : line}
              </span>
              <button aria-label={`remove ${line}`} onClick={() => dropFromShape(kind, line)}>
                ✕
              </button>
            </span>
          )),
        )}
      </div>
      <main class="main">
        <Busy />
        {gone.value && (
          <div class="banner" role="alert">
            fathom view has ended; start it again and reload. What is shown stays.
          </div>
        )}
        {s.view === 'profile' && !reason('profile') ? (
          <Profile name={dataset.name} />
        ) : s.view === 'scaling' && !reason('scaling') ? (
          <Scaling name={dataset.name} />
        ) : s.view === 'timeline' && !reason('timeline') ? (
          <Timeline name={dataset.name} />
        ) : s.view === 'compare' && !reason('compare') ? (
          <Compare session={asked.data} />
        ) : s.view === 'sql' && !reason('sql') ? (
          <Sql dataset={dataset} />
        ) : s.view === 'findings' ? (
          <FindingsView dataset={dataset} />
        ) : s.view === 'overview' ? (
          <Overview dataset={dataset} />
        ) : (
          <div class="empty">
            <p>
              No {s.view}: {reason(s.view)}.
            </p>
            {kFilledBy[s.view] && <p>{kFilledBy[s.view]}</p>}
          </div>
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
              {infoText(info.get(k)!)} {String(info.get(k)) === '1' ? k.slice(0, -1) : k}
            </span>
          ))}
        <span class="spacer" />
        {warnings > 0 && (
          <button style={{ height: '18px', color: 'var(--warn)' }} onClick={() => change({ view: 'overview' })}>
            {warnings} {warnings === 1 ? 'warning' : 'warnings'} ▸
          </button>
        )}
        <span>fathom {asked.data.fathom}</span>
      </footer>
      {help && <Help close={() => setHelp(false)} />}
      {commands && <Commands commands={list} close={() => setCommands(false)} />}
    </div>
  );
}
