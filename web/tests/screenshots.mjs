// A picture of every page, light and dark, in two sizes, for people to look at: node tests/screenshots.mjs FATHOM EXAMPLES
// PICTURES [SHARED]. Nothing is compared, but that something is on them. PAGES=timeline,sql in the environment takes some.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { check, close, examples, open, openAt, picture, quiet, run, serve, shared } from './harness.mjs';

const folder = mkdtempSync(path.join(os.tmpdir(), 'fathom-pictures-'));
const stencil = path.join(examples, 'stencil.cubex');
const ring = path.join(examples, 'ring');
const ovni = path.join(examples, 'ovni');
const made = (name, text) => {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
};
const report = path.join(folder, 'report.html');
run('report', ring, '-o', report);
const grid = [2, 4, 8, 16, 32].flatMap((p) => [10, 20, 40, 80, 160].map((n) => [p, n]));
const two = made(
  'two.txt',
  `PARAMETER p\nPARAMETER n\nPOINTS ${grid.map(([p, n]) => `( ${p} ${n} )`).join(' ')}\n` +
    ['main', 'main->solve', 'main->exchange']
      .map(
        (region, i) =>
          `REGION ${region}\nMETRIC time\n${grid.map(([p, n]) => `DATA ${(1 + i) * (1 + p ** (0.5 + i / 4) * 0.5 + n * 0.05)}`).join('\n')}\n`,
      )
      .join(''),
);
const stacks = (solve, wait, more) =>
  `main 12\nmain;read 40\nmain;solve 25\nmain;solve;stencil ${solve}\nmain;solve;exchange 18\nmain;solve;exchange;MPI_Waitall ${wait}\n` +
  `main;solve;exchange;MPI_Isend 22\nmain;solve;residual 60\nmain;solve;residual;MPI_Allreduce 35\n${more}`;
const before = made('before.folded', stacks(400, 120, 'main;solve;copy 45\n'));
const after = made('after.folded', stacks(290, 185, 'main;solve;stencil;prefetch 30\n'));
const empty = made('empty.folded', 'main 1\n');
const events = [];
for (let pid = 0; pid < 10000; ++pid) {
  const begin = (pid * 7) % 90;
  events.push({ ph: 'X', pid, tid: 1, ts: begin, dur: 60, name: pid % 3 ? 'solve' : 'exchange' });
  events.push({ ph: 'X', pid, tid: 1, ts: begin + 100, dur: 40, name: 'write' });
}
const many = made('many.json', JSON.stringify({ traceEvents: events }));
const readings = [];
for (const pid of [0, 1, 2, 3]) {
  readings.push({ ph: 'B', pid, tid: 1, ts: 0, name: 'main' });
  for (let i = 0; i < 200; ++i)
    readings.push({
      ph: 'C',
      pid,
      ts: 5 * i,
      name: 'heap',
      args: { MiB: Math.round(100 + 60 * Math.sin(i / 20 + pid) + i / 4) },
    });
  readings.push({ ph: 'E', pid, tid: 1, ts: 1000 });
}
const counted = made('counters.json', JSON.stringify({ traceEvents: readings }));

// Which pages: what is opened, the address, and what is done there.
const key = (name) => (page) => page.keyboard.press(name);
const click = (x, y) => async (page) => {
  const box = await page.locator('canvas[data-window]').first().boundingBox();
  await page.mouse.click(box.x + 188 + (box.width - 188) * x, box.y + 24 + y);
};
const zoomed = (x, y, times) => async (page) => {
  await click(x, y)(page);
  for (let i = 0; i < times; ++i) await page.keyboard.press('w');
};
const sampled = shared && path.join(shared, 'hpctoolkit', 'a-loops-cputime');
const kPages = [
  ['overview', [stencil], 'v=overview'],
  ['tree', [stencil], 'v=profile', key('e')],
  ['bottomup', [stencil], 'v=profile&t=bottomup'],
  ['flat', [stencil], 'v=profile&t=flat&pane=system'],
  ['source', [stencil], 'v=profile&pane=source', key('h')],
  ['distribution', [stencil], 'v=profile&q=Waitall', (page) => page.getByRole('button', { name: 'next hit' }).click()],
  ['timeline-dumpi', [ring], 'v=timeline'],
  ['timeline-dumpi-call', [ring], 'v=timeline', click(0.5, 40)],
  ['timeline-dumpi-zoomed', [ring], 'v=timeline', zoomed(0.4, 30, 4)],
  ['timeline-ovni', [ovni], 'v=timeline'],
  ['timeline-ovni-channel', [ovni], 'v=timeline&ch=0'],
  ['timeline-ovni-zoomed', [ovni], 'v=timeline', zoomed(0.4, 40, 5)],
  ['selection', [ring], 'v=timeline&sel=90000-260000&sr=1-2'],
  ['timeline-bytes', [ring], 'v=timeline&by=bytes&tab=shares'],
  ['timeline-overlays', [ring], 'v=timeline&cl=1&ws=1&tab=waits'],
  ['messages', [ring], 'v=timeline&tab=messages'],
  ['matrix', [ring], 'v=timeline&tab=matrix'],
  ['counters', [counted], 'v=timeline&tab=counters&by=counter'],
  ['durations', [ring], 'v=timeline&tab=durations&fn=1'],
  ['aligned', [ring, ovni], 'v=timeline&al=1'],
  ['rows-10000', [many], 'v=timeline'],
  ['scaling', [path.join(examples, 'scaling.txt')], 'v=scaling'],
  ['scaling-heat', [two], 'v=scaling&plot=heat&budget=100000'],
  ['scaling-surface', [two], 'v=scaling&plot=surface&beside=measure:median'],
  ['compare', [before, after], 'v=compare'],
  ['compare-tree', [before, after], 'v=compare&cv=tree&cf=inclusive'],
  ['compare-flame', [before, after], 'v=compare&cv=flame'],
  [
    'sql',
    [stencil],
    'v=sql',
    async (page) => {
      await page.fill('.editor', "SELECT * FROM hot_region WHERE metric = 'time'");
      await page.keyboard.press('Control+Enter');
      await page.waitForSelector('[data-rows]');
    },
  ],
  ['findings', [ring], 'v=findings'],
  ['help', [stencil], 'v=profile', key('Shift+Slash')],
  ['commands', [stencil], 'v=profile', key('Control+k')],
  ['empty', [empty], 'v=timeline'],
  ['error', [stencil], 'v=profile&m=nothing'],
  ...(sampled && existsSync(sampled)
    ? [
        ['timeline-samples', [sampled], 'v=timeline', click(0.5, 10)],
        ['timeline-samples-zoomed', [sampled], 'v=timeline', zoomed(0.5, 10, 4)],
      ]
    : []),
];
const kSizes = [1440, 1280].flatMap((width) => ['light', 'dark'].map((scheme) => [width, scheme]));
const heightOf = (width) => (width * 10) / 16 - (width === 1280 ? 80 : 0);

const only = process.env.PAGES?.split(',');
const wanted = (name) => !only || only.includes(name);
const servers = new Map(); // one for all pages of a dataset
async function shoot(name, opened, act) {
  for (const [width, scheme] of kSizes) {
    const page = await opened(scheme, { width, height: heightOf(width) });
    page.wrong = true; // pages of errors are among them
    await quiet(page);
    await act?.(page);
    await quiet(page);
    await picture(page, `${name}-${width}-${scheme}`);
    check((await page.textContent('body')).trim().length > 20, `${name}: something is on the page`);
    await page.context().close();
  }
}
for (const [name, paths, fragment, act] of kPages) {
  if (!wanted(name)) continue;
  const id = paths.join('\n');
  if (!servers.has(id)) servers.set(id, await serve(...paths));
  await shoot(name, (scheme, size) => open(servers.get(id), fragment, scheme, size), act);
}
for (const server of servers.values()) await close(server);
if (wanted('report')) await shoot('report', (scheme, size) => openAt(`file://${report}#v=timeline`, scheme, size));
if (wanted('indexing') && process.env.FATHOM_HELD_SERVER) {
  const child = spawn(process.env.FATHOM_HELD_SERVER, [], { stdio: ['pipe', 'pipe', 'inherit'] });
  const { address } = JSON.parse(await new Promise((resolve) => child.stdout.once('data', resolve)));
  for (const [width, scheme] of kSizes) {
    const page = await openAt(`${address}&v=timeline`, scheme, { width, height: heightOf(width) });
    await page.waitForSelector('[data-index=building] button');
    await picture(page, `indexing-${width}-${scheme}`);
    await page.context().close();
  }
  child.stdin.end();
}
rmSync(folder, { recursive: true });
await close();
