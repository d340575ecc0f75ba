// Scenarios in a real browser: node tests/pages.mjs FATHOM EXAMPLES [SCREENSHOTS]. What a page shows must be what the
// command line's --json says; the console must stay empty.
import path from 'node:path';
import { check, close, examples, json, open, picture, serve, quiet } from './harness.mjs';

const datasets = {
  cube: 'stencil.cubex',
  dumpi: 'ring',
  ovni: 'ovni',
  extrap: 'scaling.txt',
};

for (const [family, file] of Object.entries(datasets)) {
  const input = path.join(examples, file);
  const server = await serve(input);
  const page = await open(server);
  await page.waitForSelector('.cards');
  const info = json('info', input);
  for (const key of ['metrics', 'contexts', 'regions', 'locations', 'points']) {
    if (typeof info[key] !== 'number') continue;
    const shown = await page.getAttribute(`[data-info=${key}]`, 'data-value');
    check(shown === String(info[key]), `${family}: overview says ${shown} ${key}, info ${info[key]}`);
  }
  check(!(await page.evaluate(() => location.href.includes('k='))), `${family}: the key stays in the address`);
  await picture(page, `overview-${family}`);
  await page.context().close();
  await close(server);
}

{
  const input = path.join(examples, 'stencil.cubex');
  const server = await serve(input);
  const page = await open(server, 'v=profile');
  await page.waitForSelector('[role=row][data-node]');
  const tree = json('tree', input, '--min', '0').trees[0];
  await page.getByRole('button', { name: 'Expand' }).click();
  await quiet(page);
  const rows = await page.$$eval('[role=row][data-node]', (list) =>
    list.map((row) => ({
      name: row.querySelector('.name').textContent.replace(/^[▾▸]/, ''),
      value: Number(row.querySelector('[data-value]').dataset.value),
    })),
  );
  check(rows.length > 5, `tree has ${rows.length} rows`);
  for (const row of rows) {
    const there = tree.nodes.find(
      (n) => Number(n.inclusive) === row.value && (n.name === row.name || row.name.startsWith(n.name.slice(0, 10))),
    );
    check(there, `tree row '${row.name}' ${row.value} is in tree --json`);
  }
  await picture(page, 'profile-light');
  const hot = json('tree', input, '--hot').trees[0].nodes;
  await page.getByRole('button', { name: 'Collapse' }).click();
  await page.getByRole('button', { name: 'Hot path' }).click();
  await quiet(page);
  const selected = await page.getAttribute('[role=row][aria-selected=true] [data-value]', 'data-value');
  check(
    Number(selected) === Number(hot.at(-1).inclusive),
    `hot path ends at ${selected}, tree --hot at ${hot.at(-1).inclusive}`,
  );
  const boxes = JSON.parse(await page.getAttribute('canvas[data-boxes]', 'data-boxes'));
  const width = (await page.locator('canvas[data-boxes]').boundingBox()).width;
  const total = tree.total;
  const byNode = new Map(tree.nodes.map((n) => [Number(n.inclusive), n]));
  for (const [, , w] of boxes.slice(0, 20)) {
    check(
      [...byNode.keys()].some((v) => Math.abs((v / total) * width - w) <= 1),
      `flame box of ${w} px is a share of the total`,
    );
  }
  await page.selectOption('select[aria-label=view]', 'bottomup');
  await quiet(page);
  await picture(page, 'bottomup-light');
  await page.fill('input[type=search]', 'MPI');
  await quiet(page);
  check((await page.textContent('.bar:has(input[type=search])')).includes('hit'), 'search counts its hits');
  const address = await page.evaluate(() => location.hash);
  check(address.includes('t=bottomup'), `the address holds the view: ${address}`);
  await page.goBack();
  await quiet(page);
  check((await page.inputValue('select[aria-label=view]')) === 'topdown', 'back goes back');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Shift+Slash');
  await page.waitForSelector('[role=dialog]');
  await picture(page, 'help');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.waitForSelector('[role=listbox]');
  await picture(page, 'commands');
  await page.context().close();
  const dark = await open(server, 'v=profile', 'dark');
  await dark.waitForSelector('[role=row][data-node]');
  await picture(dark, 'profile-dark');
  await dark.context().close();
  await close(server);
}

{
  const input = path.join(examples, 'scaling.txt');
  const server = await serve(input);
  const page = await open(server, 'v=scaling');
  await page.waitForSelector('[role=row] [data-value]');
  const target = JSON.parse(
    JSON.stringify(await page.$$eval('.sliders input[type=number]', (list) => list.map((i) => Number(i.value)))),
  );
  const names = await page.$$eval('.sliders label', (list) => list.map((l) => l.textContent.trim()));
  const models = json('model', input, '--predict', names.map((n, i) => `${n}=${target[i]}`).join(','));
  const values = (
    await page.$$eval('[role=row] [data-value]', (list) => list.map((c) => Number(c.dataset.value)))
  ).slice(0, 20);
  for (const value of values) {
    check(
      models.some((m) => Math.abs(Number(m.predictions[0].value) - value) <= 1e-9 * Math.abs(value)),
      `model at the target ${value} is in model --predict`,
    );
  }
  await picture(page, 'scaling-light');
  await page.context().close();
  await close(server);
}

await close();
