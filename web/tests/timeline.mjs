// The timeline in a real browser: node tests/timeline.mjs FATHOM EXAMPLES [PICTURES [SHARED]]. Numbers must be those of
// the command line.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  check,
  close,
  coloursOf,
  compareWindow,
  csv,
  examples,
  fathom,
  json,
  open,
  picture,
  serve,
  settled,
  shared,
  windowRows,
  quiet,
} from './harness.mjs';

const work = mkdtempSync(path.join(os.tmpdir(), 'fathom-timeline-'));

// The same run in other formats, so that every family of traces is looked at.
const families = { dumpi: path.join(examples, 'ring'), ovni: path.join(examples, 'ovni') };
for (const [family, file] of [
  ['paraver', 'ring.prv'],
  ['otf2', 'ring.otf2'],
]) {
  const target = path.join(work, file);
  try {
    execFileSync(fathom, ['convert', families.dumpi, target, '--quiet'], { stdio: 'pipe' });
    families[family] = existsSync(target) ? target : path.join(work, file.replace('.otf2', ''));
  } catch (error) {
    console.log(`SKIPPED: no ${family} (${String(error.stderr).trim().split('\n')[0]})`);
  }
}
const sampled = shared && path.join(shared, 'hpctoolkit', 'a-loops-cputime');
if (sampled && existsSync(sampled)) families.hpctoolkit = sampled;
else console.log('SKIPPED: no HPCToolkit database with a trace here');

for (const [family, input] of Object.entries(families)) {
  const server = await serve(input);
  const page = await open(server, 'v=timeline');
  const canvas = page.locator('canvas[data-window]');
  await canvas.waitFor();
  await settled(page);
  const whole = (await canvas.getAttribute('data-window')).split('-').map(Number);
  check(whole[0] === 0, `${family}: the timeline begins at its first event`);
  const colours = await coloursOf(canvas);
  check(colours > 2, `${family}: the timeline shows ${colours} colours`);
  compareWindow(`${family}, whole`, await windowRows(page), json('stats', input, '--clip'));
  await picture(page, `timeline-${family}`);

  // A window in the middle, all rows.
  const [a, b] = [Math.round(whole[1] * 0.3), Math.round(whole[1] * 0.62)];
  const part = await open(server, `v=timeline&sel=${a}-${b}`);
  await settled(part);
  compareWindow(
    `${family}, window`,
    await windowRows(part),
    json('stats', input, '--clip', '--from-time', `${a}`, '--to-time', `${b}`),
  );
  await part.context().close();

  // A moment: the call and its arguments are those of the events.
  const box = await canvas.boundingBox();
  await page.mouse.click(box.x + 188 + (box.width - 188) * 0.5, box.y + 24 + 36);
  await page.waitForSelector('.fact .number');
  await quiet(page);
  const call = await page.evaluate(() => {
    const found = document.querySelector('[data-call]');
    return (
      found && {
        name: found.dataset.call,
        kind: found.dataset.kind,
        end: Number(found.dataset.end),
        begin: Number(found.dataset.begin),
        detail: found.querySelector('table')?.innerText ?? '',
      }
    );
  });
  if (call?.kind === 'compute') {
    // Between calls: from the end of one to the beginning of the next, at the place that was clicked.
    const all = csv('events', input, '-k', 'enter', '-k', 'leave');
    const origin = BigInt(json('info', input).first_ns ?? all[0].time_ns);
    const own = all.filter((e) => e.location === [...new Set(all.map((o) => o.location))][1]);
    const edges = own.map((e) => [e.kind, Number(BigInt(e.time_ns) - origin)]);
    check(
      edges.some(([kind, ns]) => kind === 'leave' && ns === call.begin),
      `${family}: compute from ${call.begin} on`,
    );
    check(
      edges.some(([kind, ns]) => kind === 'enter' && ns === call.end),
      `${family}: compute until ${call.end}`,
    );
    const middle = Math.round((whole[0] + whole[1]) / 2);
    check(call.begin <= middle && middle <= call.end, `${family}: ${middle} lies in compute`);
    check(!(await page.textContent('body')).includes('Nothing is open'), `${family}: one thing is said of the moment`);
  } else if (call && family !== 'hpctoolkit') {
    const origin = BigInt(json('info', input).first_ns ?? 0);
    const events = csv('events', input);
    const there = events.find(
      (e) =>
        e.name === call.name &&
        Math.abs(Number(BigInt(e.time_ns) - (origin || BigInt(events[0].time_ns))) - call.begin) < 1,
    );
    check(there, `${family}: ${call.name} at ${call.begin} is among the events`);
    for (const [, value] of (there?.detail ?? '')
      .split(';')
      .map((p) => p.split('='))
      .slice(0, 3))
      if (value) check(call.detail.includes(value), `${family}: the details show ${value}`);
  } else {
    const text = await page.textContent('body');
    check(call || text.includes('Nothing is open'), `${family}: what is open in the middle`);
  }
  await picture(page, `timeline-${family}-call`);

  // Keys: zoom, undo, redo, depth, marks.
  const window = async () => (await canvas.getAttribute('data-window')).split('-').map(Number);
  await page.mouse.move(box.x + 188 + (box.width - 188) / 2, box.y + 24 + 36);
  // Two zooms with a rest between them, by the page's own clock, are two steps of undo.
  await page.keyboard.press('w');
  await page.evaluate(() => new Promise((rested) => setTimeout(rested, 450)));
  await page.keyboard.press('w');
  await quiet(page);
  const zoomed = await window();
  check(zoomed[1] - zoomed[0] < 0.3 * whole[1], `${family}: W zooms: ${zoomed}`);
  await page.keyboard.press('z');
  await quiet(page);
  const back = await window();
  check(back[1] - back[0] > 1.5 * (zoomed[1] - zoomed[0]), `${family}: Z goes back: ${back}`);
  await page.keyboard.press('Shift+Z');
  await quiet(page);
  check(String(await window()) === String(zoomed), `${family}: Shift+Z redoes it: ${await window()}`);
  await page.keyboard.press('m');
  await quiet(page);
  check((await page.evaluate(() => location.hash)).includes('marks='), `${family}: M marks a moment`);
  await quiet(page);
  await picture(page, `timeline-${family}-zoomed`);
  await page.reload();
  await canvas.waitFor();
  check(String(await window()) === String(zoomed), `${family}: a reload keeps the window`);
  // Panning over what is there asks for nothing.
  await page.keyboard.press('Digit0');
  await quiet(page);
  const before = Number(await canvas.getAttribute('data-requested'));
  for (let i = 0; i < 20; ++i) await page.keyboard.press(i % 2 ? 'd' : 'a');
  await quiet(page);
  check(
    Number(await canvas.getAttribute('data-requested')) === before,
    `${family}: panning inside of what is there asks for nothing`,
  );
  await page.context().close();

  // Every tab has something to show or says why not.
  const tabs = await open(server, 'v=timeline');
  await settled(tabs);
  for (const [tab, ready] of [
    ['Over time', '[data-share]'],
    ['Durations', 'select[aria-label=function]'],
    ['Messages', '[data-messages]'],
    ['Matrix', '[data-matrix-messages]'],
    ['Counters', '[data-readings]'],
    ['Waits', '[data-waits]'],
  ]) {
    await tabs.getByRole('tab', { name: tab, exact: true }).click();
    await tabs.waitForSelector(`${ready}, .drawer .empty:not(:has-text("…"))`);
    await quiet(tabs);
    await picture(tabs, `timeline-${family}-${tab.toLowerCase().replace(' ', '-')}`);
    const number = async (name) => Number(await tabs.getAttribute(`[data-${name}]`, `data-${name}`).catch(() => NaN));
    const there = (selector) => tabs.locator(selector).count();
    if (tab === 'Matrix' && (await there('[data-matrix-messages]'))) {
      const matrix = json('stats', input).matrix ?? [];
      check(
        (await number('matrix-messages')) === matrix.reduce((s, m) => s + m.messages, 0),
        `${family}: messages of the matrix`,
      );
      check(
        (await number('matrix-bytes')) === matrix.reduce((s, m) => s + m.bytes, 0),
        `${family}: bytes of the matrix`,
      );
      const cells = JSON.parse(await tabs.getAttribute('[data-cells]', 'data-cells'));
      for (const [from, to, messages, bytes] of cells)
        check(
          matrix.some((m) => m.src === from && m.dst === to && m.messages === messages && m.bytes === bytes),
          `${family}: cell ${from} → ${to}`,
        );
    }
    if (tab === 'Messages' && (await there('[data-messages]'))) {
      const list = csv('events', input, '--messages');
      check(
        (await number('messages')) === list.length,
        `${family}: ${await number('messages')} messages, events --messages ${list.length}`,
      );
    }
    if (tab === 'Counters' && (await there('[data-readings]'))) {
      const name = await tabs.$eval('select[aria-label=counter]', (e) =>
        e.selectedOptions[0].text.replace(/ \(.*/, ''),
      );
      const list = csv('events', input, '-k', 'counter').filter((e) => e.name === name);
      check(
        (await number('readings')) === list.length,
        `${family}: ${await number('readings')} readings of ${name}, events ${list.length}`,
      );
    }
    if (tab === 'Waits' && (await there('[data-waits]'))) {
      const kinds = await tabs.$$eval('[data-kind]', (l) => l.map((e) => [e.dataset.kind, Number(e.dataset.value)]));
      const rows = json('waits', input);
      const list = Array.isArray(rows) ? rows : (rows.waits ?? rows.rows ?? []);
      for (const [kind, ns] of kinds) {
        const row = list.find((r) => r.kind === kind);
        check(
          row && Math.abs(Number(row.waited_s) * 1e9 - ns) < 1,
          `${family}: waiting by ${kind}: ${ns}, waits ${JSON.stringify(row)}`,
        );
      }
    }
    if (tab === 'Over time' && (await there('[data-share]'))) {
      const shares = await tabs.$$eval('[data-share]', (l) => l.map((e) => [e.dataset.share, Number(e.dataset.value)]));
      const calls = json('stats', input, '--clip').calls;
      for (const [name, ns] of shares.slice(0, 5)) {
        const own = Object.entries(calls).find(([n]) => n === name)?.[1].own_s;
        if (own !== undefined)
          check(
            Math.abs(ns - own * 1e9) <= 0.01 * whole[1],
            `${family}: share of ${name} over time: ${ns}, stats ${own}`,
          );
      }
    }
  }
  await tabs.context().close();

  if (family === 'dumpi') {
    // The profile of a window is that of `reduce`.
    const page2 = await open(server, `v=profile&pw=${a}-${b}`);
    await page2.waitForSelector('[role=row][data-node]');
    await page2.getByRole('button', { name: 'Expand', exact: true }).first().click();
    await quiet(page2);
    const first = BigInt(json('info', input).first_ns);
    const target = path.join(work, 'window.cubex');
    execFileSync(fathom, [
      'reduce',
      input,
      target,
      '--from-time',
      String(first + BigInt(a)),
      '--to-time',
      String(first + BigInt(b)),
      '--quiet',
    ]);
    const tree = json('tree', target, '--min', '0').trees[0];
    const values = await page2.$$eval('[role=row][data-node] [data-value]', (l) =>
      l.map((e) => Number(e.dataset.value)),
    );
    check(
      values.length > 0 && tree.nodes.some((n) => Math.abs(Number(n.inclusive) - values[0]) < 1e-12),
      `the profile of a window: ${values[0]}`,
    );
    await picture(page2, 'profile-of-window');
    await page2.context().close();
    const more = await open(server, 'v=timeline&cl=1&ws=1', 'dark');
    await settled(more);
    await quiet(more);
    await picture(more, 'timeline-dumpi-dark');
    await more.context().close();
  }
  await close(server);
}

// Two traces below each other, the same zoom; the second can be moved.
{
  const server = await serve(families.dumpi, families.ovni);
  const page = await open(server, 'v=timeline&al=1');
  await page.waitForSelector('[data-aligned]');
  await quiet(page);
  const windows = await page.$$eval('canvas[data-window]', (l) => l.map((e) => e.dataset.window));
  check(windows.length === 2 && windows[0] === windows[1], `two timelines with one zoom: ${windows}`);
  await picture(page, 'timeline-aligned');
  await page.context().close();
  await close(server);
}

// The index is kept, used again, and made anew when it is damaged.
{
  const index = path.join(work, 'index');
  const state = async () => {
    const server = await serve(families.dumpi, '--index', index);
    const page = await open(server, 'v=timeline');
    await page.waitForSelector('[data-index=ready]');
    const stored = await page.getAttribute('[data-index]', 'data-stored');
    await page.context().close();
    await close(server);
    return stored;
  };
  check((await state()) === 'false', 'the first time the index is made');
  const [file] = readdirSync(index).filter((f) => f.endsWith('.fathom-index'));
  check(file, 'the index is a file');
  check((await state()) === 'true', 'the second time it is read');
  const bytes = readFileSync(path.join(index, file));
  bytes[bytes.length - 5] ^= 0xff;
  writeFileSync(path.join(index, file), bytes);
  check((await state()) === 'false', 'a damaged one is made anew');
  check((await state()) === 'true', 'and read again');
}
rmSync(work, { recursive: true, force: true });
await close();
