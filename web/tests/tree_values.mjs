/* global navigator */
// What a row of the call tree shows, and what can be done with it: node tests/tree_values.mjs FATHOM EXAMPLES
// [SCREENSHOTS]. Numbers must be those of the command line.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { check, close, examples, json, near, open, picture, serve } from './harness.mjs';

const folder = mkdtempSync(path.join(os.tmpdir(), 'fathom-values-'));
const stencil = path.join(examples, 'stencil.cubex');

// Rows as they are shown: context, value and text of the first metric, open or not.
const shownRows = (page) =>
  page.$$eval('[role=row][data-node]', (list) =>
    list.map((row) => ({
      node: Number(row.dataset.node),
      open: row.getAttribute('aria-expanded') === 'true',
      level: Number(row.getAttribute('aria-level')),
      name: row.querySelector('.name').textContent.replace(/^[▾▸]/, ''),
      value: Number(row.querySelector('[data-value]').dataset.value),
      text: row.querySelector('[data-value]').textContent,
    })),
  );
// By its name: beside it is what opens and closes the row.
const chooseRow = (page, which) => page.locator(`[role=row]${which}`).first().locator('.name span').last().click();
// Parents by the order and depth of `tree --json`.
function withParents(nodes) {
  const above = [];
  return new Map(
    nodes.map((node) => {
      above.length = node.depth;
      const parent = above.at(-1);
      above.push(node);
      return [node.context, { ...node, parent }];
    }),
  );
}

// A05: which value, and of what it is a share.
{
  const server = await serve(stencil);
  const tree = json('tree', stencil, '--min', '0').trees[0];
  const nodes = withParents(tree.nodes);
  const solve = tree.nodes.find((n) => n.name.startsWith('solve('));
  const page = await open(server, `v=profile&c=${solve.context}`);
  await page.waitForSelector('[role=row][data-node]');
  await page.selectOption('select[aria-label="expand to level"]', '2');
  await page.waitForFunction(() => document.querySelectorAll('[role=row][data-node]').length > 5);
  const bases = {
    total: () => tree.total,
    parent: (node) => node.parent?.inclusive ?? tree.total,
    selection: () => solve.inclusive,
  };
  for (const values of ['inclusive', 'exclusive', 'cube'])
    for (const percent of ['total', 'parent', 'selection', 'absolute']) {
      await page.selectOption('select[aria-label=value]', values);
      await page.selectOption('select[aria-label=percent]', percent);
      const rows = await shownRows(page);
      check(
        rows.some((r) => r.open) && rows.some((r) => !r.open),
        `${values}, ${percent}: some rows are open, some are not`,
      );
      for (const row of rows) {
        const node = nodes.get(row.node);
        const inclusive = values === 'inclusive' || (values === 'cube' && !row.open);
        const expected = inclusive ? node.inclusive : node.exclusive;
        check(near(row.value, expected), `${values}: ${row.name} is ${row.value}, tree ${expected}`);
        const shown = /(-?[\d.]+)%/.exec(row.text)?.[1];
        if (percent === 'absolute') {
          check(shown === undefined, `absolute: ${row.name} shows ${row.text}`);
          continue;
        }
        const share = (100 * expected) / bases[percent](node);
        check(Math.abs(Number(shown) - share) <= 0.0501, `${values}, ${percent}: ${row.name}: ${row.text}, ${share}`);
      }
    }
  const address = await page.evaluate(() => location.hash);
  check(/i=cube/.test(address) && /p=absolute/.test(address), `both are in the address: ${address}`);
  await page.reload();
  await page.waitForSelector('[role=row][data-node]');
  check((await page.inputValue('select[aria-label=value]')) === 'cube', 'a reload keeps the value');
  check((await page.inputValue('select[aria-label=percent]')) === 'absolute', 'and the percentage');
  await picture(page, 'tree-values');
  await page.context().close();

  // A08: a subtree and the way back, callers, copies.
  const tools = await open(server, 'v=profile');
  await tools.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await tools.waitForSelector('[role=row][data-node]');
  await tools.getByRole('button', { name: 'Expand', exact: true }).click();
  const halo = tree.nodes.find((n) => n.name.startsWith('exchange_halo('));
  await chooseRow(tools, `[data-node="${halo.context}"]`);
  await tools.getByRole('button', { name: 'Subtree' }).click();
  await tools.waitForFunction((all) => document.querySelectorAll('[role=row][data-node]').length < all, nodes.size);
  await tools.getByRole('button', { name: 'Expand', exact: true }).click();
  const below = json('tree', stencil, '--min', '0', '--context', String(halo.context)).trees[0].nodes;
  const inside = await shownRows(tools);
  check(inside.length === below.length, `the subtree has ${inside.length} rows, tree --context ${below.length}`);
  for (const row of inside)
    check(
      below.some((n) => n.context === row.node && near(n.inclusive, row.value)),
      `subtree: ${row.name} ${row.value}`,
    );
  const crumbs = await tools.$$eval('.crumbs button', (l) => l.map((b) => b.textContent));
  const way = [];
  for (let n = nodes.get(halo.context); n; n = nodes.get(n.parent?.context)) way.unshift(`› ${n.name.slice(0, 28)}`);
  check(String(crumbs) === String(['all', ...way]), `the way back: ${crumbs}`);
  await picture(tools, 'tree-subtree');
  for (const [what, expected] of [
    ['name', halo.name],
    ['path', way.length],
    ['row', halo.inclusive],
  ]) {
    await tools.selectOption('select[aria-label=copy]', what);
    const copied = await tools.evaluate(() => navigator.clipboard.readText());
    if (what === 'name') check(copied === expected, `copied name: ${copied}`);
    if (what === 'path')
      check(copied.split('->').length === expected && copied.endsWith(halo.name), `copied path: ${copied}`);
    if (what === 'row') {
      const [heads, cells] = copied.trimEnd().split('\n');
      check(heads.startsWith('path,time inclusive,time exclusive'), `copied heads: ${heads}`);
      check(cells.includes(`,${halo.inclusive},${halo.exclusive},`), `copied row: ${cells}`);
    }
  }
  await tools.getByRole('button', { name: 'all', exact: true }).click();
  await tools.waitForSelector('.crumbs', { state: 'detached' });
  await tools.getByRole('button', { name: 'Expand', exact: true }).click();
  await chooseRow(tools, '[data-node]:has-text("MPI_Allreduce")');
  await tools.getByRole('button', { name: 'Callers' }).click();
  await tools.waitForFunction(() => document.querySelector('.crumbs')?.textContent.includes('MPI_Allreduce'));
  await tools.getByRole('button', { name: 'Expand', exact: true }).click();
  const up = json('tree', stencil, '--min', '0', '--view', 'bottomup').trees[0].nodes;
  const first = up.findIndex((n) => n.depth === 0 && n.name === 'MPI_Allreduce');
  const end = up.findIndex((n, i) => i > first && n.depth === 0);
  const callers = up.slice(first, end < 0 ? undefined : end);
  await tools.waitForFunction((n) => document.querySelectorAll('[role=row][data-node]').length === n, callers.length);
  const shown = await shownRows(tools);
  check(callers.length > 1, `MPI_Allreduce has ${callers.length - 1} callers`);
  for (const node of callers)
    check(
      shown.some((r) => r.name === node.name && r.level === node.depth + 1 && near(r.value, node.inclusive)),
      `callers: ${node.name} ${node.inclusive} among ${JSON.stringify(shown)}`,
    );
  await tools.context().close();
  await close(server);
}

// B11: recursion collapsed, chosen on a row and taken back by its chip.
{
  const input = path.join(folder, 'recursion.folded');
  writeFileSync(
    input,
    'main;fib 2\nmain;fib;fib 3\nmain;fib;fib;leaf 4\nmain;fib;leaf 1\nmain;other;fib 5\nmain;fib;helper;fib;leaf 7\n',
  );
  const server = await serve(input);
  const page = await open(server, 'v=profile');
  await page.waitForSelector('[role=row][data-node]');
  // Rows of before may go some time before the new ones are there to be expanded.
  const expandTo = async (wanted) => {
    for (let i = 0; i < 50 && (await shownRows(page)).length !== wanted; ++i) {
      await page.getByRole('button', { name: 'Expand', exact: true }).click();
      await page.waitForTimeout(100);
    }
    return shownRows(page);
  };
  const before = json('tree', input, '--min', '0').trees[0].nodes.length;
  check((await expandTo(before)).length === before, `${before} rows before`);
  await chooseRow(page, '[data-node]:has-text("fib")');
  await page.selectOption('select[aria-label=reshape]', 'collapse');
  await page.waitForFunction((n) => document.querySelectorAll('[role=row][data-node]').length < n, before);
  const collapsed = json('tree', input, '--min', '0', '--collapse', 'fib').trees[0].nodes;
  const rows = await expandTo(collapsed.length);
  check(rows.length === collapsed.length, `${rows.length} rows without recursion, tree --collapse ${collapsed.length}`);
  // By hand: 2 + 3 samples of fib itself, all that it calls below it once.
  for (const [name, level, value] of [
    ['fib', 2, 17],
    ['leaf', 3, 12],
    ['helper', 3, 0],
    ['fib', 3, 5],
  ])
    check(
      rows.some((r) => r.name === name && r.level === level && r.value === value),
      `${name} has ${value}: ${JSON.stringify(rows)}`,
    );
  await picture(page, 'tree-collapsed');
  check((await page.evaluate(() => location.hash)).includes('collapse'), 'it is in the address');
  await page.locator('.chip', { hasText: 'recursion' }).getByRole('button').click();
  check((await expandTo(before)).length === before, 'the chip takes it back');
  await page.context().close();
  await close(server);
}

rmSync(folder, { recursive: true });
await close();
