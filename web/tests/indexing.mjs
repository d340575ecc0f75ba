/* global OffscreenCanvas */
// The timeline while its index is made, in a real browser: node tests/indexing.mjs FATHOM EXAMPLES [PICTURES]. A server of
// its own ($FATHOM_HELD_SERVER) gives the second half of rows only when it is told to: nothing depends on how fast it is.
import { spawn } from 'node:child_process';
import { check, close, coloursOf, open, picture } from './harness.mjs';

const program = process.env.FATHOM_HELD_SERVER;
if (!program) {
  console.log('SKIPPED: FATHOM_HELD_SERVER does not say where the held server is');
  process.exit(77);
}
async function held() {
  const child = spawn(program, [], { stdio: ['pipe', 'pipe', 'inherit'] });
  const line = await new Promise((resolve) => child.stdout.once('data', resolve));
  return { ...JSON.parse(line), child, go: () => child.stdin.write('go\n') };
}
const kSpan = 4_000_000;
const ready = (page, n) =>
  page.waitForFunction((rows) => document.querySelector('[data-index]')?.textContent.includes(`${rows} of 3 rows`), n);
// Whether a row shows anything near the end of the trace, where rows are held.
const hasEnd = (row) => {
  const element = document.querySelector('canvas[data-window]');
  const copy = new OffscreenCanvas(element.width, element.height).getContext('2d');
  copy.drawImage(element, 0, 0);
  const { data } = copy.getImageData(element.width - 100, 24 + 24 * row + 6, 60, 8);
  const first = String(data.slice(0, 3));
  for (let i = 4; i < data.length; i += 4) if (String(data.slice(i, i + 3)) !== first) return true;
  return false;
};
const drawn = (page, row) => page.waitForFunction(hasEnd, row, { polling: 100 });

// First picture, progress and use of the page before the index is done; rows as they are ready.
{
  const server = await held();
  const page = await open(server, 'v=timeline');
  await ready(page, 1);
  check((await page.getAttribute('[data-index]', 'data-index')) === 'building', 'the index is being made');
  const status = await page.textContent('[data-index]');
  check(/≈ reading: 1 of 3 rows, [\d,]+ events/.test(status), `it says how far it is: ${status}`);
  await drawn(page, 0);
  check((await coloursOf(page.locator('canvas[data-window]'))) > 2, 'there is a picture before the index is done');
  check(!(await page.evaluate(hasEnd, 2)), 'the end of a row that is held is empty');
  await picture(page, 'timeline-indexing');
  // Usable: zoom, another view and back.
  await page.mouse.move(700, 300);
  await page.keyboard.press('w');
  const [from, to] = (await page.getAttribute('canvas[data-window]', 'data-window')).split('-').map(Number);
  check(to - from < kSpan, `it zooms meanwhile: ${from}-${to}`);
  await page.keyboard.press('Digit0');
  await page
    .getByRole('tab', { name: 'Overview' })
    .or(page.getByRole('button', { name: 'Overview' }))
    .first()
    .click();
  await page.waitForSelector('.cards, .page');
  await page.goBack();
  server.go();
  await ready(page, 2);
  await drawn(page, 1);
  check(!(await page.evaluate(hasEnd, 2)), 'a row appears as it is ready, the other is still held');
  server.go();
  await page.waitForSelector('[data-index=ready]');
  await drawn(page, 2);
  check((await page.textContent('[data-index]')).includes('exact'), 'in the end it is exact');
  await page.context().close();
  server.child.stdin.end();
}

// Cancelled: what is there stays and is said to be a part; it can go on.
{
  const server = await held();
  const page = await open(server, 'v=timeline');
  await ready(page, 1);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.waitForSelector('[data-index=cancelled]');
  const status = await page.textContent('[data-index]');
  check(status.includes('cancelled: 1 of 3 rows'), `it says what is there: ${status}`);
  await drawn(page, 0);
  await picture(page, 'timeline-cancelled');
  server.go();
  server.go();
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.waitForSelector('[data-index=ready]');
  await drawn(page, 2);
  check(true, 'and goes on');
  await page.context().close();
  server.child.stdin.end();
}

await close();
