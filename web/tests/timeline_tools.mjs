// Colours by value, call paths, pictures as files and missing rows of the timeline, in a real browser:
// node tests/timeline_tools.mjs FATHOM EXAMPLES [PICTURES]. Numbers must be those of the command line.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, unlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  check,
  close,
  coloursOf,
  csv,
  examples,
  json,
  near,
  open,
  picture,
  serve,
  settled,
  quiet,
} from './harness.mjs';

const folder = mkdtempSync(path.join(os.tmpdir(), 'fathom-tools-'));
const ring = path.join(examples, 'ring');

const sum = (list) => list.reduce((s, v) => s + v, 0);

{
  const server = await serve(ring);

  // Colours by value.
  const events = csv('events', ring, '-k', 'enter', '-k', 'leave');
  const messages = csv('events', ring, '--messages');
  const waits = json('waits', ring);
  for (const by of ['duration', 'bytes', 'waiting']) {
    const page = await open(server, `v=timeline&by=${by}`);
    await page.waitForSelector('canvas[data-heat]');
    await quiet(page);
    const heat = JSON.parse(await page.getAttribute('canvas[data-heat]', 'data-heat'));
    check(heat.what === by && heat.most > 0 && heat.most >= heat.least, `${by}: from ${heat.least} to ${heat.most}`);
    check((await coloursOf(page.locator('canvas[data-window]'))) > 2, `${by}: rows are coloured`);
    if (by === 'duration') {
      // Every value is the length of a call of that location.
      const open = [];
      const lengths = [];
      for (const e of events.filter((e) => e.location === events[0].location)) {
        if (e.kind === 'enter') open.push(BigInt(e.time_ns));
        else lengths.push(Number(BigInt(e.time_ns) - open.pop()) / 1e9);
      }
      const values = heat.first.filter((v) => v !== null);
      check(values.length > 10, `duration: ${values.length} bins have a value`);
      for (const v of values)
        check(
          lengths.some((l) => near(l, v)),
          `duration: a call of ${v} s`,
        );
    }
    if (by === 'bytes') {
      // Each message counts where it is sent and where it arrives.
      check(sum(heat.sums) === 2 * sum(messages.map((m) => Number(m.bytes))), `bytes: ${sum(heat.sums)} in all`);
    }
    if (by === 'waiting') {
      const list = Array.isArray(waits) ? waits : (waits.waits ?? waits.rows);
      const all = sum(list.map((w) => Number(w.waited_s))) * 1e9;
      check(near(sum(heat.sums) * heat.bin_ns, all, 1e-6), `waiting: ${sum(heat.sums) * heat.bin_ns} ns of ${all}`);
    }
    await picture(page, `timeline-by-${by}`);
    await page.context().close();
  }

  // From a node of the call tree to where it happens, and back.
  const page = await open(server, 'v=profile');
  await page.waitForSelector('[role=row][data-node]');
  await page.getByRole('button', { name: 'Expand', exact: true }).click();
  await page.locator('[role=row][data-node] .name', { hasText: 'MPI_Isend' }).first().click();
  await page.getByRole('button', { name: 'On the timeline' }).click();
  await page.waitForSelector('[data-path]');
  await settled(page);
  await quiet(page);
  check(
    (await page.getAttribute('[data-path]', 'data-path')).endsWith('MPI_Isend'),
    'the timeline shows one call path',
  );
  const few = await coloursOf(page.locator('canvas[data-window]'));
  await picture(page, 'timeline-path');
  await page.keyboard.press('.');
  await page.waitForSelector('[data-call]');
  check((await page.getAttribute('[data-call]', 'data-call')) === 'MPI_Isend', 'the next call is one of that path');
  await page.getByRole('button', { name: 'In the call tree' }).click();
  await page.waitForSelector('[role=row][aria-selected=true]');
  check((await page.textContent('[role=row][aria-selected=true] .name')).includes('MPI_Isend'), 'and back to its node');
  await page.goto(`${server.address}&v=timeline`);
  await page.reload();
  await settled(page);
  await quiet(page);
  check((await coloursOf(page.locator('canvas[data-window]'))) > few, 'without the path there is more to see');

  // The picture as a file.
  await page.goto(`${server.address}&v=timeline&w=1000-200000`);
  await page.reload();
  await settled(page);
  await quiet(page);
  for (const kind of ['PNG', 'SVG']) {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: kind, exact: true }).first().click(),
    ]);
    const bytes = readFileSync(await file.path());
    check(/ring.*timeline.*1000-200000/.test(file.suggestedFilename()), `its name: ${file.suggestedFilename()}`);
    if (kind === 'PNG') check(bytes.subarray(1, 4).toString() === 'PNG' && bytes.length > 2000, 'a PNG');
    else check(/^<svg.*rank 0/s.test(bytes.toString()) && bytes.includes('<image'), 'an SVG with rows and tiles');
  }
  await page.context().close();
  await close(server);
}

// A rank whose file is missing is part of the picture.
{
  const broken = path.join(folder, 'ring');
  cpSync(ring, broken, { recursive: true });
  const ranks = readdirSync(broken).filter((f) => /\d+\.bin$/.test(f));
  unlinkSync(path.join(broken, ranks.at(-1)));
  const server = await serve(broken);
  const page = await open(server, 'v=timeline');
  const canvas = page.locator('canvas[data-window]');
  await canvas.waitFor();
  await settled(page);
  await quiet(page);
  check((await canvas.getAttribute('data-rows')) === String(ranks.length), 'a missing rank has a row');
  check((await canvas.getAttribute('data-missing')) === '1', 'which is hatched');
  await picture(page, 'timeline-missing');
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + 600, box.y + 24 + 24 * (ranks.length - 1) + 10);
  await quiet(page);
  check((await page.textContent('.detail[data-index]')).includes('no events'), 'and says so');
  await page.context().close();
  await close(server);
}
rmSync(folder, { recursive: true, force: true });
await close();
