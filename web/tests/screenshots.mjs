// A picture of every page, light and dark, in two sizes, for people to look at: node tests/screenshots.mjs FATHOM EXAMPLES
// PICTURES [SHARED]. Nothing is compared.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { close, examples, open, openAt, picture, run, serve, shared } from './harness.mjs';

const folder = mkdtempSync(path.join(os.tmpdir(), 'fathom-pictures-'));
const stencil = path.join(examples, 'stencil.cubex');
const ring = path.join(examples, 'ring');
const ovni = path.join(examples, 'ovni');
const after = path.join(folder, 'after.cubex');
run('cut', stencil, '-o', after, '--prune', 'exchange_halo*');
const report = path.join(folder, 'report.html');
run('report', ring, '-o', report);
const two = path.join(folder, 'two.txt');
const grid = [2, 4, 8, 16, 32].flatMap((p) => [10, 20, 40, 80, 160].map((n) => [p, n]));
writeFileSync(
  two,
  `PARAMETER p\nPARAMETER n\nPOINTS ${grid.map(([p, n]) => `( ${p} ${n} )`).join(' ')}\n` +
    ['main', 'main->solve', 'main->exchange']
      .map(
        (region, i) =>
          `REGION ${region}\nMETRIC time\n${grid.map(([p, n]) => `DATA ${(1 + i) * (1 + p ** (1 + i / 2) * 0.5 + n * 0.25)}`).join('\n')}\n`,
      )
      .join(''),
);
const empty = path.join(folder, 'empty.folded');
writeFileSync(empty, 'main 1\n');

// Which pages: what is opened, the address, and what is done there.
const key = (name) => async (page) => {
  await page.keyboard.press(name);
  await page.waitForTimeout(300);
};
const click = (x, y) => async (page) => {
  const box = await page.locator('canvas[data-window]').first().boundingBox();
  await page.mouse.click(box.x + 188 + (box.width - 188) * x, box.y + 24 + y);
  await page.waitForTimeout(500);
};
const sampled = shared && path.join(shared, 'hpctoolkit', 'a-loops-cputime');
const kPages = [
  ['overview', [stencil], 'v=overview'],
  ['tree', [stencil], 'v=profile', key('e')],
  ['bottomup', [stencil], 'v=profile&t=bottomup'],
  ['flat', [stencil], 'v=profile&t=flat&pane=system'],
  ['source', [stencil], 'v=profile&pane=source', key('h')],
  ['timeline-dumpi', [ring], 'v=timeline'],
  ['timeline-dumpi-call', [ring], 'v=timeline', click(0.5, 40)],
  [
    'timeline-zoomed',
    [ring],
    'v=timeline',
    async (page) => {
      await click(0.4, 30)(page);
      for (let i = 0; i < 4; ++i) await page.keyboard.press('w');
      await page.waitForTimeout(600);
    },
  ],
  ['timeline-ovni', [ovni], 'v=timeline'],
  ['timeline-bytes', [ring], 'v=timeline&by=bytes&tab=shares'],
  ['timeline-overlays', [ring], 'v=timeline&cl=1&ws=1&tab=waits'],
  ['messages', [ring], 'v=timeline&tab=messages'],
  ['matrix', [ring], 'v=timeline&tab=matrix'],
  ['counters', [ring], 'v=timeline&tab=counters'],
  ['durations', [ring], 'v=timeline&tab=durations&fn=1'],
  ['aligned', [ring, ovni], 'v=timeline&al=1'],
  ['scaling', [path.join(examples, 'scaling.txt')], 'v=scaling'],
  ['scaling-heat', [two], 'v=scaling&plot=heat&budget=100000'],
  ['scaling-surface', [two], 'v=scaling&plot=surface&beside=measure:median'],
  ['compare', [stencil, after], 'v=compare'],
  ['compare-tree', [stencil, after], 'v=compare&cv=tree'],
  ['compare-flame', [stencil, after], 'v=compare&cv=flame'],
  ['sql', [stencil], 'v=sql'],
  ['findings', [ring], 'v=findings'],
  ['help', [stencil], 'v=profile', key('Shift+Slash')],
  ['commands', [stencil], 'v=profile', key('Control+k')],
  ['empty', [empty], 'v=timeline'],
  ['error', [stencil], 'v=profile&m=nothing'],
  ...(sampled && existsSync(sampled) ? [['timeline-samples', [sampled], 'v=timeline', click(0.5, 10)]] : []),
];

const only = process.env.PAGES?.split(',');
for (const [name, paths, fragment, act] of kPages) {
  if (only && !only.includes(name)) continue;
  const server = await serve(...paths);
  for (const [width, height] of [
    [1440, 900],
    [1280, 720],
  ])
    for (const scheme of ['light', 'dark']) {
      const page = await open(server, fragment, scheme, { width, height });
      page.wrong = true;
      await page.waitForTimeout(900);
      await act?.(page);
      await picture(page, `${name}-${width}-${scheme}`);
      await page.context().close();
    }
  await close(server);
}
if (!only || only.includes('report'))
  for (const scheme of ['light', 'dark']) {
    const page = await openAt(`file://${report}#v=timeline`, scheme);
    await page.waitForTimeout(900);
    await picture(page, `report-1440-${scheme}`);
    await page.context().close();
  }
rmSync(folder, { recursive: true });
await close();
