// Models in a real browser: node tests/scaling.mjs FATHOM EXAMPLES [SCREENSHOTS]. Numbers must be those of `model` and
// `advise`.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { check, close, examples, json, near, open, picture, serve, quiet } from './harness.mjs';

const folder = mkdtempSync(path.join(os.tmpdir(), 'fathom-scaling-'));

// Two parameters: a heat map whose corner is the model's value at the target; sliders and search in the address.
{
  const input = path.join(folder, 'two.txt');
  const grid = [2, 4, 8, 16, 32].flatMap((p) => [10, 20, 40, 80, 160].map((n) => [p, n]));
  writeFileSync(
    input,
    `PARAMETER p\nPARAMETER n\nPOINTS ${grid.map(([p, n]) => `( ${p} ${n} )`).join(' ')}\n` +
      ['main', 'main->solve']
        .map(
          (region, i) =>
            `REGION ${region}\nMETRIC time\n${grid.map(([p, n]) => `DATA ${(1 + i) * (1 + p * 0.5 + n * 0.25)}`).join('\n')}\n`,
        )
        .join(''),
  );
  const server = await serve(input);
  const page = await open(server, 'v=scaling&plot=heat&at=64,320&q=solve');
  await page.waitForSelector('canvas[data-heat]');
  await quiet(page);
  const model = json('model', input, '--predict', 'p=64,n=320').find((m) => m.callpath === 'main->solve');
  const corner = Number(await page.getAttribute('canvas[data-heat]', 'data-heat'));
  check(near(corner, Number(model.predictions[0].value)), `heat map at the target: ${corner}`);
  const rows = await page.$$eval('[role=row] [data-value]', (l) => l.map((c) => Number(c.dataset.value)));
  check(rows.length === 1 && near(rows[0], corner), `search leaves one model: ${rows}`);
  await picture(page, 'scaling-heat');

  // The same as a surface, which turns.
  await page.getByRole('button', { name: 'Surface', exact: true }).click();
  await page.waitForSelector('canvas[data-surface]');
  const top = Number(await page.getAttribute('canvas[data-surface]', 'data-surface'));
  check(near(top, corner), `surface at the target: ${top}`);
  await picture(page, 'scaling-surface');
  const turned = () => page.getAttribute('canvas[data-surface]', 'data-turn');
  const before = await turned();
  await page.locator('canvas[data-surface]').focus();
  await page.keyboard.press('ArrowRight');
  await quiet(page);
  check((await turned()) !== before, 'keys turn the surface');

  // What to measure next, as `advise` says it.
  await page.goto(`${server.address}&v=scaling&budget=60000&process=p`);
  await page.reload();
  await page.waitForSelector('tr[data-advised]');
  const advice = json('advise', input, '--budget', '60000', '--process-parameter', 'p', '-m', 'time').suggested;
  const shown = await page.$$eval('tr[data-advised]', (l) => l.map((r) => [r.dataset.advised, Number(r.dataset.cost)]));
  check(shown.length === advice.length, `${shown.length} points are suggested, advise has ${advice.length}`);
  advice.forEach((s, i) =>
    check(
      shown[i]?.[0] === `${s.point.p},${s.point.n}` && near(shown[i][1], s.cost),
      `suggestion ${i}: ${shown[i]} is ${JSON.stringify(s)}`,
    ),
  );
  check((await page.getAttribute('canvas[data-advised]', 'data-advised')) === String(advice.length), 'and are drawn');
  await picture(page, 'scaling-advice');
  await page.context().close();
  await close(server);
}

// Expectations and another set beside it: marks are those of `model --expect`, differences those of `model --minus`.
{
  const write = (name, factor) => {
    const file = path.join(folder, name);
    const points = [4, 8, 16, 32, 64];
    writeFileSync(
      file,
      `PARAMETER p\nPOINTS ${points.map((p) => `( ${p} )`).join(' ')}\n` +
        [
          ['main', (p) => 10 + Math.log2(p)],
          ['main->halo', (p) => 1 + factor * p],
        ]
          .map(
            ([region, value]) => `REGION ${region}\nMETRIC time\n${points.map((p) => `DATA ${value(p)}`).join('\n')}\n`,
          )
          .join(''),
    );
    return file;
  };
  const [before, after] = [write('before.txt', 0.5), write('after.txt', 0.25)];
  const server = await serve(after, before);
  for (const expect of ['1', 'log2(p)', 'p']) {
    const page = await open(server, `v=scaling&expect=${encodeURIComponent(expect)}`);
    await page.waitForSelector('[data-mark]');
    const ranked = json('model', after, '--expect', expect);
    const marks = await page.$$eval('[data-mark]', (l) =>
      l.map((r) => [r.querySelector('.name').textContent.replaceAll(' › ', '->'), r.dataset.mark === 'bug']),
    );
    for (const [name, bug] of marks) {
      const there = ranked.find((m) => m.callpath === name);
      check(
        there && (there.mark === '!') === bug,
        `expect ${expect}: ${name} is ${bug ? 'a' : 'no'} bug, model: '${there?.mark}'`,
      );
    }
    if (expect === 'log2(p)') await picture(page, 'scaling-expect');
    await page.context().close();
  }
  const page = await open(server, 'v=scaling&at=256&beside=d1');
  await page.waitForSelector('[data-difference]');
  const minus = json('model', after, '--minus', before, '--at', 'p=256').models;
  const rows = await page.$$eval('[data-difference]', (l) =>
    l.map((c) => [
      c.closest('[role=row]').querySelector('.name').textContent.replaceAll(' › ', '->'),
      Number(c.dataset.difference),
    ]),
  );
  check(rows.length === 2, `${rows.length} models have one beside them`);
  for (const [name, value] of rows) {
    const there = minus.find((m) => m.callpath === name)?.target_change;
    check(Math.abs(Number(there) - value) < 1e-9, `${name} differs by ${value}, model --minus ${there}`);
  }
  check((await page.getAttribute('canvas[data-beside]', 'data-beside')) === '1', 'the other curve is drawn');
  await picture(page, 'scaling-beside');
  await page.goto(`${server.address}&v=scaling&beside=measure:median`);
  await page.reload();
  await page.waitForSelector('[data-other]');
  check((await page.$$('[data-other]')).length === 2, 'models fitted to medians stand beside');
  page.wrong = true;
  await page.goto(`${server.address}&v=scaling&expect=nothing(x)`);
  await page.reload();
  await page.waitForSelector('.failure, [role=alert]');
  check((await page.textContent('body')).includes('nothing'), 'an expectation that cannot be read is said to be so');
  await page.context().close();
  await close(server);
}

// Several call paths in one plot, each or their sum; what was measured as mean, median, least, largest or all of it.
{
  const input = path.join(examples, 'scaling.txt');
  const measured = {};
  let region = '';
  for (const line of readFileSync(input, 'utf8').split('\n')) {
    if (line.startsWith('REGION ')) measured[(region = line.slice(7).trim())] = [];
    if (line.startsWith('DATA ')) measured[region].push(line.slice(5).trim().split(/\s+/).map(Number));
  }
  const points = [4, 8, 16, 32, 64];
  const kinds = {
    mean: (list) => [list.reduce((s, v) => s + v, 0) / list.length],
    median: (list) => [[...list].sort((a, b) => a - b)[2]], // of five
    minimum: (list) => [Math.min(...list)],
    maximum: (list) => [Math.max(...list)],
    all: (list) => list,
  };
  const server = await serve(input);
  const page = await open(server, 'v=scaling&at=512');
  await page.waitForSelector('canvas[data-curves]');
  const models = json('model', input, '--predict', 'p=512');
  const wanted = ['main->solve', 'main->solve->stencil', 'main->read_input'];
  for (const name of wanted)
    await page
      .locator('[role=row]:has([data-value]) .name')
      .filter({ hasText: new RegExp(`^${name.replaceAll('->', ' › ')}$`) })
      .click({ modifiers: name === wanted[0] ? [] : ['Control'] });
  // The curves once as many points of each are there as are wanted.
  const curves = async (count, values) => {
    await page.waitForFunction(
      ([c, v]) => {
        const all = JSON.parse(document.querySelector('canvas[data-curves]').dataset.curves);
        return all.length === c && all.every(([, list]) => list.every((p) => p.length === 1 + v));
      },
      [count, values],
    );
    return JSON.parse(await page.getAttribute('canvas[data-curves]', 'data-curves'));
  };
  const target = (name) => Number(models.find((m) => m.callpath === name).predictions[0].value);
  const compare = (text, list, expected) =>
    list.forEach(([x, ...values], i) => {
      check(x === points[i], `${text}: point ${i} lies at ${x}`);
      values.forEach((v, k) =>
        check(near(v, expected[i][k], 1e-9), `${text} at ${x}: ${v}, in the file ${expected[i][k]}`),
      );
    });
  for (const [kind, of] of Object.entries(kinds)) {
    await page.selectOption('select[aria-label=points]', kind);
    const shown = await curves(wanted.length, kind === 'all' ? 5 : 1);
    wanted.forEach((name, i) => {
      check(near(shown[i][0], target(name)), `${name} at the target: ${shown[i][0]}, model ${target(name)}`);
      compare(`${kind} of ${name}`, shown[i][1], measured[name].map(of));
    });
  }
  await picture(page, 'scaling-several');
  await page.getByRole('button', { name: 'sum', exact: true }).click();
  const [sum] = await curves(1, 5);
  check(
    near(
      sum[0],
      wanted.reduce((s, n) => s + target(n), 0),
    ),
    `the sum at the target: ${sum[0]}`,
  );
  compare(
    'runs of the sum',
    sum[1],
    points.map((_, i) => [0, 1, 2, 3, 4].map((k) => wanted.reduce((s, n) => s + measured[n][i][k], 0))),
  );
  await picture(page, 'scaling-sum');
  await page.reload();
  await page.waitForSelector('canvas[data-curves]');
  check(near((await curves(1, 5))[0][0], sum[0]), 'a reload keeps the chosen call paths and their sum');
  await page.context().close();
  await close(server);
}

rmSync(folder, { recursive: true });
await close();
