/* global atob, Blob, DecompressionStream, Response */
// The report in one file, in a real browser: node tests/report.mjs FATHOM EXAMPLES [SCREENSHOTS]. It opens from disk,
// asks nobody, and its numbers are those of the command line.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  check,
  close,
  coloursOf,
  compareWindow,
  examples,
  findings,
  json,
  near,
  openAt,
  picture,
  run,
  settled,
  treeRows,
  windowRows,
  quiet,
} from './harness.mjs';

const folder = mkdtempSync(path.join(os.tmpdir(), 'fathom-report-'));
const stencil = path.join(examples, 'stencil.cubex');
const other = path.join(folder, 'after.cubex');
run('cut', stencil, '-o', other, '--prune', 'exchange_halo*');

// The report: from disk, without a request, findings first, the same numbers.
for (const [family, input] of [
  ['cube', stencil],
  ['dumpi', path.join(examples, 'ring')],
  ['ovni', path.join(examples, 'ovni')],
  ['extrap', path.join(examples, 'scaling.txt')],
]) {
  const file = path.join(folder, `${family}.html`);
  run('report', input, '-o', file);
  check(statSync(file).size < 1_000_000, `${family}: the report has ${statSync(file).size} bytes`);
  const page = await openAt('about:blank');
  const requests = [];
  page.on('request', (r) => requests.push(r.url()));
  await page.goto(`file://${file}`);
  await findings(page, input, `report of ${family}`);
  await picture(page, `report-${family}`);
  if (family === 'cube' || family === 'dumpi') {
    await page.keyboard.press('2');
    await page.waitForSelector('[role=row][data-node]');
    await page.getByRole('button', { name: 'Expand', exact: true }).click();
    await quiet(page);
    const nodes = json('tree', input, '--min', '0').trees[0].nodes;
    for (const row of await treeRows(page)) {
      check(
        nodes.some((n) => near(Number(n.inclusive), row.values[0])),
        `report of ${family}: '${row.name}' ${row.values[0]} is in tree --json`,
      );
    }
    const mean = Number(await page.getAttribute('[data-mean]', 'data-mean'));
    check(mean > 0, `report of ${family}: the distribution is there, mean ${mean}`);
  }
  if (family === 'extrap') {
    await page.keyboard.press('4');
    await page.waitForSelector('[role=row] [data-value]');
    // Every measurement of the file, as the live page has it.
    await page
      .locator('[role=row]:has([data-value]) .name')
      .filter({ hasText: /^main › read_input$/ })
      .click();
    await page.waitForFunction(() => {
      const [curve] = JSON.parse(document.querySelector('canvas[data-curves]').dataset.curves);
      return curve[1].every((p) => p.length === 1 + 5);
    });
    const [[, shown]] = JSON.parse(await page.getAttribute('canvas[data-curves]', 'data-curves'));
    const lines = readFileSync(input, 'utf8').split('\n');
    const from = lines.indexOf('REGION main->read_input') + 1;
    const measured = lines.slice(from, from + 5).map((line) => line.split(' ').slice(1).map(Number));
    check(
      JSON.stringify(shown.map((p) => p.slice(1))) === JSON.stringify(measured),
      `report of ${family}: repetitions ${JSON.stringify(shown)}, in the file ${JSON.stringify(measured)}`,
    );
  }
  await page.keyboard.press('1');
  await page.waitForSelector('.cards');
  check(
    requests.filter((u) => !u.startsWith('data:')).length === 1,
    `report of ${family}: asks for itself alone: ${requests}`,
  );
  await page.context().close();
}
{
  const file = path.join(folder, 'two.html');
  run('report', stencil, other, '-o', file);
  const page = await openAt(`file://${file}#v=compare`);
  await page.waitForSelector('[data-change]');
  check((await page.$$('[data-change]')).length > 3, 'a report of two datasets compares them');
  await page.context().close();
}

// The timeline of a report: the picture at three zooms, sums of the whole; what is not there says so.
for (const family of ['ring', 'ovni']) {
  const input = path.join(examples, family);
  const file = path.join(folder, `timeline-${family}.html`);
  run('report', input, '-o', file);
  const page = await openAt(`file://${file}#v=timeline`);
  const canvas = page.locator('canvas[data-window]');
  await canvas.waitFor();
  await settled(page);
  await quiet(page);
  check((await coloursOf(canvas)) > 2, `report of ${family}: the timeline is drawn`);
  const stats = json('stats', input, '--clip');
  compareWindow(`report of ${family}`, await windowRows(page), stats);
  await picture(page, `report-timeline-${family}`);
  // Zoomed in as far as it goes: still a picture, and the address says where.
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + 188 + (box.width - 188) / 2, box.y + 40);
  for (let i = 0; i < 14; ++i) await page.keyboard.press('w');
  await quiet(page);
  const [from, to] = (await canvas.getAttribute('data-window')).split('-').map(Number);
  check(to - from > 0 && from > 0, `report of ${family}: zoomed to ${from}-${to}`);
  await picture(page, `report-timeline-${family}-zoomed`);
  await page.keyboard.press('Digit0');
  for (const tab of ['Over time', 'Durations', 'Messages', 'Matrix', 'Counters', 'Waits']) {
    await page.getByRole('tab', { name: tab, exact: true }).click();
    await quiet(page);
    check(!(await page.locator('.drawer .failure').count()), `report of ${family}: ${tab} is there`);
  }
  // Another order of rows is put together from what is there.
  await page.selectOption('select[aria-label="order of rows"]', 'similar');
  await quiet(page);
  check((await coloursOf(canvas)) > 2, `report of ${family}: rows in another order`);
  await page.context().close();
}

// Anonymous: no machine, no folder; the numbers stay.
{
  const file = path.join(folder, 'anonymous.html');
  run('report', stencil, path.join(examples, 'ring'), '-o', file, '--anonymous');
  const page = await openAt(`file://${file}`);
  await page.waitForSelector('.finding');
  const texts = await page.evaluate(async () => {
    const out = {};
    for (const block of document.querySelectorAll('script[data-question]')) {
      const packed = Uint8Array.from(atob(block.textContent), (c) => c.charCodeAt(0));
      const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
      out[block.dataset.question] = await new Response(stream).text();
    }
    return out;
  });
  const session = JSON.parse(texts['session']);
  check(!JSON.stringify(texts).includes('node00'), 'names of nodes are gone');
  check(JSON.parse(texts['0/locations']).node[0] !== JSON.parse(texts['0/locations']).node[15], 'nodes stay apart');
  check(!session.datasets.some((d) => d.path.includes('/')), `no folders: ${session.datasets.map((d) => d.path)}`);
  const total = JSON.parse(texts['0/tree?view=topdown']).metrics[0].total;
  check(total === json('tree', stencil).trees[0].total, 'the numbers stay');
  await page.context().close();
}

rmSync(folder, { recursive: true });
await close();
