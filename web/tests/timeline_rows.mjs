/* global OffscreenCanvas */
// Rows of the timeline: one with its call stack, all under collectives, coloured by a counter, and ten thousand of them:
// node tests/timeline_rows.mjs FATHOM EXAMPLES [PICTURES]. Numbers must be those of the command line.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { check, close, coloursOf, csv, examples, json, near, open, picture, serve, settled } from './harness.mjs';

const folder = mkdtempSync(path.join(os.tmpdir(), 'fathom-rows-'));
const ring = path.join(examples, 'ring');

// A16: the call stack of a row over time is that of its enters and leaves.
{
  const input = path.join(examples, 'ovni');
  const server = await serve(input);
  const first = BigInt(csv('events', input)[0].time_ns);
  const events = csv('events', input, '-k', 'enter', '-k', 'leave');
  const [location] = events.map((e) => e.location);
  const own = events
    .filter((e) => e.location === location)
    .map((e) => ({ ...e, ns: Number(BigInt(e.time_ns) - first) }));
  const stackAt = (ns) => {
    const open = [];
    for (const e of own.filter((e) => e.ns <= ns)) {
      if (e.kind === 'enter') open.push(e.name);
      else open.splice(open.lastIndexOf(e.name));
    }
    return open;
  };
  // In the middle between two changes, where those are well apart.
  const moments = own
    .slice(1)
    .map((e, i) => [e.ns - own[i].ns, Math.round((e.ns + own[i].ns) / 2)])
    .filter(([gap]) => gap > 2000)
    .map(([, ns]) => ns);
  const some = moments.filter((_, i) => i % Math.ceil(moments.length / 20) === 0);
  check(some.length >= 10, `${some.length} moments are looked at`);
  const page = await open(server, `v=timeline&ch=-1&at=0@${some[0]}`);
  await page.waitForSelector('canvas[data-stack]');
  const lanes = Number(await page.getAttribute('canvas[data-lanes]', 'data-lanes'));
  check(lanes >= Math.max(...some.map((ns) => stackAt(ns).length)), `${lanes} lanes`);
  for (const ns of some) {
    const wide = 1000; // a window in which the moment is more than a pixel
    const fragment = `#v=timeline&ch=-1&at=0@${ns}&w=${ns - wide}-${ns + wide}`;
    const expected = JSON.stringify([...stackAt(ns), ...Array(lanes).fill('')].slice(0, lanes));
    await page.evaluate((f) => (location.hash = f), fragment);
    const shown = await page
      .waitForFunction((e) => document.querySelector('canvas[data-stack]')?.dataset.stack === e, expected, {
        timeout: 5000,
      })
      .catch(() => null);
    check(shown, `stack at ${ns}: ${await page.getAttribute('canvas[data-lanes]', 'data-stack')} is ${expected}`);
  }
  await page.evaluate((ns) => (location.hash = `#v=timeline&ch=-1&at=0@${ns}`), some[3]);
  await page.waitForFunction(() => !document.querySelector('canvas[data-window]').dataset.window.startsWith('-'));
  // The same zoom: Ctrl and the wheel over the lanes moves the rows above, too.
  const before = await page.getAttribute('canvas[data-window]', 'data-window');
  const box = await page.locator('canvas[data-lanes]').boundingBox();
  await page.mouse.move(box.x + 500, box.y + 20);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -200);
  await page.keyboard.up('Control');
  await page.waitForFunction((w) => document.querySelector('canvas[data-window]').dataset.window !== w, before);
  const [a, b] = (await page.getAttribute('canvas[data-window]', 'data-window')).split('-').map(Number);
  const whole = before.split('-').map(Number);
  check(b - a < whole[1] - whole[0], `the wheel over the lanes zooms: ${before} to ${a}-${b}`);
  await page.mouse.click(box.x + 600, box.y + 20);
  await page.waitForFunction((ns) => !location.hash.includes(`at=0%40${ns}`), some[3]);
  check(true, 'a click on the lanes picks a moment');
  await picture(page, 'timeline-depth');
  await page.context().close();
  await close(server);
}

// B03: collectives as bands, from the first enter to the last leave; how much of them is waiting.
{
  const server = await serve(ring);
  const page = await open(server, 'v=timeline');
  await settled(page);
  const canvas = page.locator('canvas[data-window]');
  const pixel = (x, y) =>
    canvas.evaluate(
      (element, [px, py]) => {
        const copy = new OffscreenCanvas(element.width, element.height).getContext('2d');
        copy.drawImage(element, 0, 0);
        return [...copy.getImageData(px, py, 1, 1).data].join();
      },
      [x, y],
    );
  await page.getByRole('button', { name: 'collectives', exact: true }).click();
  await page.waitForSelector('canvas[data-bands]');
  const bands = JSON.parse(await canvas.getAttribute('data-bands'));
  const first = BigInt(json('info', ring).first_ns);
  const calls = {}; // by rank and name, in order
  const ranks = [...new Set(csv('events', ring).map((e) => e.location))];
  for (const e of csv('events', ring, '-k', 'enter', '-k', 'leave')) {
    const list = ((calls[e.name] ??= {})[e.location] ??= []);
    const ns = Number(BigInt(e.time_ns) - first);
    if (e.kind === 'enter') list.push([ns, NaN]);
    else list.at(-1)[1] = ns;
  }
  const reductions = bands.filter(([name]) => name === 'MPI_Allreduce');
  check(reductions.length === calls['MPI_Allreduce'][ranks[0]].length, `${reductions.length} bands of MPI_Allreduce`);
  reductions.forEach(([, begin, end, lastEnter, late, members, low, high, waiting], i) => {
    const all = ranks.map((r) => calls['MPI_Allreduce'][r][i]);
    const last = Math.max(...all.map(([enter]) => enter));
    check(begin === Math.min(...all.map(([enter]) => enter)), `band ${i} begins at ${begin}`);
    check(end === Math.max(...all.map(([, leave]) => leave)), `band ${i} ends at ${end}`);
    check(lastEnter === last && all[late][0] === last, `band ${i}: row ${late} comes last, at ${lastEnter}`);
    check(members === ranks.length && low === 0 && high === ranks.length - 1, `band ${i} covers ${low} to ${high}`);
    const inside = all.reduce((s, [enter, leave]) => s + leave - enter, 0);
    const waited = all.reduce((s, [enter, leave]) => s + Math.max(0, Math.min(last, leave) - enter), 0);
    check(near(waiting, waited / inside), `band ${i}: ${waiting} of it is waiting, by its events ${waited / inside}`);
  });
  // It is seen: where the first one has come and the last one has not, the picture is another one than before.
  const [, begin, , lastEnter] = reductions.find((r) => r[3] - r[1] > 1000) ?? reductions[0];
  const [from, to] = (await canvas.getAttribute('data-window')).split('-').map(Number);
  const width = (await canvas.boundingBox()).width - 188;
  const x = Math.round(188 + (((begin + lastEnter) / 2 - from) / (to - from)) * width);
  const covered = await pixel(x, 24 + 14);
  await picture(page, 'timeline-collectives');
  await page.getByRole('button', { name: 'collectives', exact: true }).click();
  await page.waitForSelector('canvas[data-window]:not([data-bands])');
  check((await pixel(x, 24 + 14)) !== covered, 'a band is drawn where ranks wait for the last one');
  await page.context().close();
  await close(server);
}

// B14: colours by a counter: the reading that holds in each bin.
{
  const input = path.join(folder, 'counter.json');
  const steps = [8, 64, 32, 1, 48, 16, 24, 40]; // per 100 us, another one in each process
  const events = [];
  for (const pid of [0, 1]) {
    events.push({ ph: 'B', pid, tid: 1, ts: 0, name: 'main' });
    steps.forEach((v, i) =>
      events.push({ ph: 'C', pid, tid: 1, ts: 100 * i, name: 'heap', args: { bytes: v + 100 * pid } }),
    );
    events.push({ ph: 'E', pid, tid: 1, ts: 100 * steps.length });
  }
  writeFileSync(input, JSON.stringify({ traceEvents: events }));
  const server = await serve(input);
  const page = await open(server, 'v=timeline');
  await settled(page);
  await page.selectOption('select[aria-label="colour by"]', 'counter');
  await page.waitForSelector('canvas[data-heat]');
  const heat = JSON.parse(await page.getAttribute('canvas[data-heat]', 'data-heat'));
  check(heat.what === 'counter', `coloured by ${heat.what}`);
  check(heat.least === 1 && heat.most === 164, `from ${heat.least} to ${heat.most}`);
  const bins = 512;
  check(heat.first.length === bins, `${heat.first.length} bins`);
  heat.first.forEach((value, i) => {
    const [a, b] = [i, i + 1].map((edge) => Math.floor((edge / bins) * steps.length - 1e-9 * (edge === i + 1)));
    const last = ((steps.length - 1) / steps.length) * bins;
    if (i > last) check(value === null, `bin ${i}: nobody knows how long the last reading holds, ${value}`);
    else if (a === b) check(value === steps[a], `bin ${i}: ${value}, the counter is ${steps[a]}`);
    else check(value > Math.min(steps[a], steps[b]) - 1e-9, `bin ${i} lies between two readings: ${value}`);
  });
  check((await coloursOf(page.locator('canvas[data-window]'))) >= steps.length, 'a colour per reading');
  check((await page.evaluate(() => location.hash)).includes('by=counter'), 'it is in the address');
  await picture(page, 'timeline-by-counter');
  await page.context().close();
  await close(server);
}

// A12: ten thousand rows: what is drawn and asked for is what is in sight.
{
  const many = 10000;
  const few = 100;
  const write = (count) => {
    const file = path.join(folder, `rows${count}.json`);
    const events = [];
    for (let pid = 0; pid < count; ++pid) {
      const begin = (pid * 7) % 90;
      events.push({ ph: 'X', pid, tid: 1, ts: begin, dur: 60, name: pid % 3 ? 'solve' : 'exchange' });
      events.push({ ph: 'X', pid, tid: 1, ts: begin + 100, dur: 40, name: 'write' });
    }
    writeFileSync(file, JSON.stringify({ traceEvents: events }));
    return file;
  };
  const work = {};
  for (const count of [few, many]) {
    const server = await serve(write(count));
    const page = await open(server, 'v=timeline');
    await page.waitForSelector('[data-index=ready]');
    await settled(page);
    const canvas = page.locator('canvas[data-window]');
    check((await canvas.getAttribute('data-rows')) === String(count), `${await canvas.getAttribute('data-rows')} rows`);
    const requested = async () => Number(await canvas.getAttribute('data-requested'));
    const height = (await canvas.boundingBox()).height - 24;
    if (count === many) {
      const table = JSON.parse(
        await page.$$eval('[role=row][data-function]', (l) =>
          JSON.stringify(
            l.map((r) => [r.dataset.function, Number(r.querySelector('[data-column=calls]').dataset.value)]),
          ),
        ),
      );
      const calls = Object.fromEntries(table);
      check(
        calls.write === many && calls.solve + calls.exchange === many,
        `calls of all rows: ${JSON.stringify(calls)}`,
      );
      await picture(page, 'timeline-10000');
    }
    // To the last row and back, in steps of a screen.
    const begin = await requested();
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + 600, box.y + 100);
    await page.mouse.wheel(0, 1e7);
    await page.mouse.move(box.x + 601, box.y + 24 + height - 3);
    await page.waitForFunction(
      (text) => document.querySelector('.detail[data-index] strong')?.textContent.includes(text),
      count === many ? '9999' : '99',
    );
    check(true, `${count} rows: the last one is under the pointer`);
    const tileRows = 64;
    const rowHeight = count > 400 ? 4 : 8;
    const most = 4 * (Math.ceil(height / rowHeight / tileRows) + 1); // blocks in sight, tiles beside each other
    const asked = (await requested()) - begin;
    check(asked <= most, `${count} rows: the jump to the end asks for ${asked} tiles, at most ${most} are in sight`);
    check(begin <= most, `${count} rows: the first view asks for ${begin} tiles, at most ${most} are in sight`);
    work[count] = { begin, nodes: await page.evaluate(() => document.querySelectorAll('*').length) };
    await page.mouse.wheel(0, -1e7);
    await page.mouse.move(box.x + 602, box.y + 24 + 2);
    await page.waitForFunction(() =>
      /(^|\D)0\b/.test(document.querySelector('.detail[data-index] strong')?.textContent),
    );
    // Panning over what is there asks for nothing.
    const there = await requested();
    for (let i = 0; i < 10; ++i) await page.keyboard.press(i % 2 ? 'd' : 'a');
    check((await requested()) === there, `${count} rows: panning asks for nothing`);
    await page.context().close();
    await close(server);
  }
  check(
    work[many].nodes <= 1.1 * work[few].nodes,
    `as many elements for ${many} rows as for ${few}: ${work[many].nodes}, ${work[few].nodes}`,
  );
}

rmSync(folder, { recursive: true, force: true });
await close();
