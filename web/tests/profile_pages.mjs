/* global window */
// Findings, comparison, SQL, source, derived metrics, hostile names, in a real browser: node tests/profile_pages.mjs
// FATHOM EXAMPLES [SCREENSHOTS]. Numbers must be those of the command line.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  check,
  close,
  examples,
  findings,
  json,
  near,
  open,
  openAt,
  picture,
  run,
  serve,
  treeRows,
  quiet,
} from './harness.mjs';

const folder = mkdtempSync(path.join(os.tmpdir(), 'fathom-pages-'));
const stencil = path.join(examples, 'stencil.cubex');
const other = path.join(folder, 'after.cubex');
run('cut', stencil, '-o', other, '--prune', 'exchange_halo*');

{
  const server = await serve(stencil);
  let page = await open(server, 'v=findings');
  await findings(page, stencil, 'cube');
  await picture(page, 'findings-light');
  const imbalance = page.locator('.finding[data-finding=imbalance]').first();
  await imbalance.getByRole('button', { name: 'Call path ▸' }).click();
  await page.waitForSelector('[role=row][aria-selected=true]');
  check(
    (await page.textContent('[role=row][aria-selected=true] .name')).includes('apply_stencil'),
    'a finding leads to its call path',
  );

  // A derived metric, checked while it is typed; the same numbers as --derive.
  await page.getByRole('button', { name: 'Derive' }).click();
  await page.fill('[aria-label="name of the metric"]', 'per_call');
  page.wrong = true;
  await page.fill('[aria-label=formula]', 'time / nothing_there');
  await page.waitForFunction(() => document.querySelector('.wrong')?.textContent.includes('nothing_there'));
  await page.fill('[aria-label=formula]', 'time / visits');
  await page.waitForSelector('[data-check=good]');
  page.wrong = false;
  await picture(page, 'derive');
  await page.getByRole('button', { name: 'Add the metric' }).click();
  await page.waitForFunction(() => document.querySelector('.head')?.textContent.includes('per_call'));
  await page.getByRole('button', { name: 'Expand', exact: true }).click();
  await quiet(page);
  const derived = json('tree', stencil, '--derive', 'per_call = time / visits', '-m', 'per_call', '--min', '0')
    .trees[0];
  const at = (await page.$$eval('[role=columnheader]', (l) => l.map((h) => h.textContent))).findIndex((h) =>
    h.startsWith('per_call'),
  );
  for (const row of await treeRows(page)) {
    const there = derived.nodes.filter((n) => row.name.startsWith(n.name.slice(0, 10)));
    check(
      there.some((n) => near(Number(n.inclusive), row.values[at])),
      `per_call of '${row.name}' is ${row.values[at]}, tree --derive has ${there.map((n) => n.inclusive)}`,
    );
  }
  check((await page.evaluate(() => location.hash)).includes('derive='), 'the formula is in the address');
  await page.reload();
  await page.waitForFunction(() => document.querySelector('.head')?.textContent.includes('per_call'));
  check(true, 'a reload keeps the metric');

  // Columns: hidden and put in another order, in the address.
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.locator('.sheet label', { hasText: 'per_call' }).locator('input').uncheck();
  await page.waitForFunction(() => !document.querySelector('.head').textContent.includes('per_call'));
  await page.getByRole('button', { name: 'visits further left' }).click();
  await page.waitForFunction(() => document.querySelector('.head').textContent.startsWith('visits'));
  await page.keyboard.press('Escape');
  const heads = await page.$$eval('[role=columnheader]', (l) => l.map((h) => h.textContent.replace(/ [↓↑]$/, '')));
  check(heads[0] === 'visits' && !heads.includes('per_call'), `columns: ${heads}`);

  // Reshaped: a function merged into its callers is gone, its time is with them.
  await page.goto(`${server.address}&v=profile&hide=${encodeURIComponent('elide MPI_Waitall')}`);
  await page.reload();
  await page.waitForSelector('[role=row][data-node]');
  await page.getByRole('button', { name: 'Expand', exact: true }).click();
  await quiet(page);
  const merged = json('tree', stencil, '--elide', 'MPI_Waitall', '--min', '0').trees[0].nodes;
  const rows = await treeRows(page);
  check(rows.length === merged.length, `without MPI_Waitall ${rows.length} rows, tree --elide ${merged.length}`);
  check(!rows.some((r) => r.name === 'MPI_Waitall'), 'a merged function has no row');

  // Search in the tree: share and only hits; locations: the values of tree --location.
  await page.goto(`${server.address}&v=profile&q=%2F%5EMPI_%2F&only=1&r=0-3`);
  await page.reload();
  await page.waitForSelector('[data-hits]');
  const mpi = json('tree', stencil, '--min', '0', '-l', '0', '-l', '1', '-l', '2', '-l', '3').trees[0].nodes;
  const names = mpi.filter((n) => /^MPI_/.test(n.name));
  check((await page.getAttribute('[data-hits]', 'data-hits')) === String(names.length), '/^MPI_/ finds all of them');
  for (const row of (await treeRows(page)).filter((r) => /^MPI_/.test(r.name))) {
    check(
      names.some((n) => n.name === row.name && near(Number(n.inclusive), row.values[0])),
      `${row.name} on locations 0 to 3 is ${row.values[0]}`,
    );
  }

  // The panes of a node.
  for (const pane of ['system', 'topology', 'source', '']) {
    await page.goto(`${server.address}&v=profile&pane=${pane}`);
    await page.reload();
    await page.waitForSelector('[role=row][data-node]');
    await quiet(page);
    if (pane === 'system') {
      check((await page.getAttribute('canvas[data-cells]', 'data-cells')) === '16', 'a cell per location');
    }
    if (pane === 'topology')
      check((await page.textContent('.pane.below')).includes('topology'), 'no topology: it says so');
    if (pane === 'source') {
      const lines = json('source', stencil, '-f', 'solve.cpp');
      const shown = await page.$$eval('[data-own]', (l) =>
        l.map((c) => [Number(c.dataset.line), Number(c.dataset.own)]),
      );
      for (const line of lines.filter((l) => l.value)) {
        check(
          shown.some(([n, v]) => n === line.line && near(v, line.value)),
          `line ${line.line} has ${line.value}`,
        );
      }
    }
    if (pane === '') {
      const spread = json('routines', stencil, '--spread', '-r', 'stencil');
      const text = JSON.stringify(spread);
      const mean = Number(await page.getAttribute('[data-mean]', 'data-mean'));
      check(mean > 0 && text.includes(String(mean).slice(0, 8)), `the mean ${mean} is that of routines --spread`);
    }
    await picture(page, `pane-${pane || 'locations'}`);
  }
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'SVG' }).first().click(),
  ]);
  const svg = readFileSync(await file.path(), 'utf8');
  check(svg.startsWith('<svg') && svg.includes('apply_stencil(Grid&lt;double'), 'the flame graph as SVG');
  check(/stencil\.cubex.*flame.*\.svg/.test(file.suggestedFilename()), `its name: ${file.suggestedFilename()}`);
  await page.context().close();

  page = await open(server, 'v=sql');
  await page.waitForSelector('.entry');
  const query = "SELECT * FROM hot_region WHERE metric = 'time'";
  await page.fill('.editor', query);
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('[data-rows]');
  const answer = json('sql', stencil, query);
  check((await page.getAttribute('[data-rows]', 'data-rows')) === String(answer.length), 'as many rows as sql --json');
  const cells = await page.$$eval('[role=gridcell]', (l) => l.map((c) => c.textContent));
  const width = Object.keys(answer[0]).length;
  answer.slice(0, 5).forEach((row, i) =>
    Object.values(row).forEach((value, k) => {
      const cell = cells[i * width + k];
      check(cell === String(value ?? '–') || near(Number(cell), Number(value)), `row ${i}: ${cell} is ${value}`);
    }),
  );
  await picture(page, 'sql-light');
  page.wrong = true;
  await page.fill('.editor', "SELECT * FROM read_csv('/etc/passwd')");
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('.failure');
  check((await page.textContent('.failure')).includes('disabled'), 'a query cannot read files');
  await page.context().close();
  await close(server);
}

{
  const server = await serve(stencil, other);
  const page = await open(server, 'v=compare');
  await page.waitForSelector('[data-change]');
  for (const [fragment, args] of [
    ['', []],
    ['&cf=inclusive', ['--inclusive']],
    ['&cm=path', ['--match', 'path']],
  ]) {
    await page.goto(`${server.address}&v=compare${fragment}`);
    await page.reload();
    await page.waitForSelector('[data-change]');
    await quiet(page);
    const diff = json('diff', stencil, other, ...args);
    const rows = await page.$$eval('[role=row]:has([data-change])', (list) =>
      list.map((r) => ({
        name: r.querySelector('.name').textContent,
        before: r.querySelector('[data-before]').dataset.before,
        after: r.querySelector('[data-after]').dataset.after,
        change: Number(r.querySelector('[data-change]').dataset.change),
      })),
    );
    check(rows.length === diff.rows.length, `compare${fragment}: ${rows.length} rows of ${diff.rows.length}`);
    rows.forEach((row) => {
      const there = diff.rows.find((d) => d.path.replaceAll('->', ' › ') === row.name);
      check(
        there &&
          there.change === row.change &&
          String(there.before ?? '') === row.before &&
          String(there.after ?? '') === row.after,
        `compare${fragment}: '${row.name}' ${JSON.stringify(row)} is ${JSON.stringify(there)}`,
      );
    });
  }
  await picture(page, 'compare-table');
  for (const flavour of ['inclusive', 'exclusive']) {
    await page.goto(`${server.address}&v=compare&cv=tree&cf=${flavour}`);
    await page.reload();
    await page.waitForSelector('.twist');
    const byPath = json('diff', stencil, other, '--match', 'path', ...(flavour === 'inclusive' ? ['--inclusive'] : []));
    const changes = await page.$$eval('[data-change]', (l) => l.map((c) => Number(c.dataset.change)));
    check(changes.length > 3, `the compared tree has ${changes.length} rows`);
    for (const c of changes) {
      check(
        byPath.rows.some((r) => near(r.change, c)),
        `${flavour}: the tree's change ${c} is in diff --match path`,
      );
    }
  }
  await picture(page, 'compare-tree');
  await page.goto(`${server.address}&v=compare&cv=flame`);
  await page.reload();
  await page.waitForSelector('canvas[data-compare-boxes]');
  check(Number(await page.getAttribute('canvas[data-compare-boxes]', 'data-compare-boxes')) > 5, 'boxes of both');
  await picture(page, 'compare-flame');
  await page.context().close();
  await close(server);
}

// A saved session opens the same datasets and the same view.
{
  const server = await serve(stencil, other);
  const page = await open(server, 'v=profile&t=flat&d=1');
  await page.waitForSelector('[role=row][data-node]');
  await page.keyboard.press('Control+k');
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('option', { name: 'Save these views' }).click(),
  ]);
  const again = await serve('--session', await saved.path());
  await page.context().close();
  await close(server);
  check(again.address.includes('t=flat'), `the address of a saved session: ${again.address.replace(/k=[^&]*/, 'k=…')}`);
  const reopened = await open(again);
  await reopened.waitForSelector('[role=row][data-node]');
  check((await reopened.inputValue('select[aria-label=view]')) === 'flat', 'a saved session shows its view');
  check((await reopened.inputValue('select[aria-label=dataset]')) === '1', 'a saved session shows its dataset');
  await reopened.context().close();
  await close(again);
}

// Names that are markup, controls, formulas or a megabyte long stay text: live, in the report, in SVG and CSV.
{
  const input = path.join(folder, 'hostile.folded');
  const nasty = [
    '<img src=x onerror=window.pwned=1>',
    '</script><script>window.pwned=1</script>',
    '"quoted" & \'quoted\'',
    '=HYPERLINK("http://x")',
    'escape \u001b[31m and \u0001',
    'x'.repeat(1 << 20),
  ];
  writeFileSync(input, nasty.map((name, i) => `main;${name} ${100 - i}\n`).join(''));
  const file = path.join(folder, 'hostile.html');
  run('report', input, '-o', file);
  check(statSync(file).size < 1_000_000, `a name of 1 MB makes a report of ${statSync(file).size} bytes`);
  const server = await serve(input);
  for (const [name, address] of [
    ['live', server.address],
    ['report', `file://${file}`],
  ]) {
    const page = await openAt(address + (address.includes('#') ? '&' : '#') + 'v=profile');
    await page.waitForSelector('[role=row][data-node]');
    await page.getByRole('button', { name: 'Expand', exact: true }).click();
    await quiet(page);
    const shown = (await treeRows(page)).map((r) => r.name);
    for (const text of nasty.slice(0, 4)) check(shown.includes(text), `${name}: '${text}' is shown as it is`);
    check(
      shown.some((t) => t.startsWith('xxx') && t.length < 3000),
      `${name}: a very long name is cut`,
    );
    const [svg] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'SVG' }).first().click(),
    ]);
    const drawn = readFileSync(await svg.path(), 'utf8');
    check(drawn.includes('&lt;img') && !drawn.includes('<img') && !drawn.includes('\u001b'), `${name}: text in SVG`);
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).first().click(),
    ]);
    check(!/^=/m.test(readFileSync(await csv.path(), 'utf8')), `${name}: no formula in CSV`);
    for (const view of ['findings', 'overview']) {
      await page.evaluate((v) => (location.hash = `v=${v}`), view);
      await quiet(page);
    }
    check(!(await page.evaluate(() => 'pwned' in window)), `${name}: nothing of the data ran`);
    if (name === 'live') await picture(page, 'hostile');
    await page.context().close();
  }
  await close(server);
}

rmSync(folder, { recursive: true });
await close();
