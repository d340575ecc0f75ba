/* global OffscreenCanvas, requestAnimationFrame */
// What scenarios in a real browser share: the program, its server, pages whose console must stay empty, pictures.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';

export const [fathom, examples, pictures, shared] = process.argv.slice(2);
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((p) => existsSync(p));
if (!executablePath) {
  console.log('SKIPPED: no chromium on this machine');
  process.exit(77);
}
process.setMaxListeners(0); // servers that are started: each is ended with this program
if (pictures) mkdirSync(pictures, { recursive: true });

const kLargest = 1 << 28;
export const json = (...args) =>
  JSON.parse(execFileSync(fathom, [...args, '--json', '--quiet'], { maxBuffer: kLargest }).toString());
// Lines of CSV as objects; cells with quotes are not met in what is asked for here but for the detail, the last one.
export function csv(...args) {
  const lines = execFileSync(fathom, [...args, '--csv', '--quiet'], { maxBuffer: kLargest })
    .toString()
    .trimEnd()
    .split('\n');
  const names = lines[0].split(',');
  return lines.slice(1).map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(
      names.map((n, i) => [n, (i + 1 < names.length ? cells[i] : cells.slice(i).join(',')).replace(/^"|"$/g, '')]),
    );
  });
}

export const run = (...args) => execFileSync(fathom, [...args, '--quiet'], { maxBuffer: kLargest }).toString();
export const near = (a, b, bound = 1e-9) => a === b || Math.abs(a - b) <= bound * Math.max(Math.abs(a), Math.abs(b));

let passed = 0;
let failed = 0;
export function check(condition, text) {
  if (condition) return ++passed;
  ++failed;
  console.log(`FAILED: ${text}`);
}

export async function serve(...args) {
  const child = spawn(fathom, ['view', ...args, '--json', '--idle', '10m', '--quiet'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill());
  const line = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      if (text.trimEnd().endsWith('}')) resolve(text);
    });
    child.on('exit', () => reject(new Error('fathom view ended')));
  });
  return { ...JSON.parse(line), child };
}

const browser = await chromium.launch({
  executablePath,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});

export function open(server, fragment = '', scheme = 'light', size = { width: 1440, height: 900 }) {
  return openAt(server.address + (fragment ? `&${fragment}` : ''), scheme, size);
}
// Any address. While `page.wrong` is set, a test asks for something that must be refused.
export async function openAt(address, scheme = 'light', size = { width: 1440, height: 900 }) {
  const context = await browser.newContext({ viewport: size, colorScheme: scheme });
  const page = await context.newPage();
  page.on('console', (message) =>
    check(page.wrong || !['error', 'warning'].includes(message.type()), `console: ${message.text()}`),
  );
  page.on('pageerror', (error) => check(false, `page: ${error}`));
  page.on('response', (response) =>
    check(page.wrong || response.status() < 400, `${response.status()} ${response.url()}`),
  );
  await page.goto(address);
  return page;
}
// Until nothing was asked for and drawn over some frames: the page rests.
export const quiet = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        let still = 0;
        const look = () => {
          still = Number(document.documentElement.dataset.pending ?? 0) ? 0 : still + 1;
          if (still > 6) resolve();
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      }),
  );
export async function picture(page, name) {
  if (pictures) await page.screenshot({ path: path.join(pictures, `${name}.png`) });
}
// Of a server; without one the end of everything.
export async function close(server) {
  if (server) {
    server.child.kill();
    return;
  }
  await browser.close();
  console.log(`pages: ${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

const arrows = (callpath) => callpath.replaceAll('->', ' › ');

// The page of findings: all of them, in order, with the call paths of delays.
export async function findings(page, input, name) {
  await page.waitForSelector('.finding');
  const report = json('report', input);
  const shown = await page.$$eval('.finding', (list) =>
    list.map((f) => ({ kind: f.dataset.finding, severity: Number(f.dataset.severity), text: f.textContent })),
  );
  check(shown.length === report.findings.length, `${name}: ${shown.length} findings of ${report.findings.length}`);
  report.findings.forEach((f, i) => {
    check(shown[i]?.kind === f.kind && shown[i]?.severity === f.severity, `${name}: finding ${i} is ${f.kind}`);
    check(shown[i]?.text.includes(f.text), `${name}: finding ${i} says '${f.text}'`);
    for (const p of f.where.callpaths ?? []) {
      check(shown[i]?.text.includes(arrows(p.name)), `${name}: finding ${i} is late in '${p.name}'`);
    }
  });
  const tables = await page.$$eval('.page.findings aside td', (l) => l.map((c) => c.textContent));
  for (const p of (report.delay_costs ?? []).flatMap((d) => d.callpaths ?? [])) {
    check(tables.includes(`↳ ${arrows(p.name)}`), `${name}: '${p.name}' is in the table of delay costs`);
  }
  for (const [key, value] of Object.entries(report.efficiencies ?? {})) {
    if (typeof value !== 'number') continue;
    const cells = await page.$$eval('[data-table=efficiencies] [data-value]', (l) => l.map((c) => c.dataset.value));
    check(cells.includes(String(value)), `${name}: ${key} ${value} is in the table of efficiencies`);
  }
}

export async function treeRows(page) {
  return page.$$eval('[role=row][data-node]', (list) =>
    list.map((row) => ({
      name: row.querySelector('.name').textContent.replace(/^[▾▸]/, ''),
      values: [...row.querySelectorAll('[data-value]')].map((c) => Number(c.dataset.value)),
    })),
  );
}

// The table of functions below a timeline.
export const windowRows = (page) =>
  page.$$eval('[role=row][data-function]', (list) =>
    list.map((row) => {
      const value = (key) => row.querySelector(`[data-column=${key}]`)?.dataset.value;
      return {
        name: row.dataset.function,
        own: Number(value('own_ns')),
        total: Number(value('total_ns')),
        calls: Number(value('calls')),
      };
    }),
  );
// Once its numbers are exact.
export const settled = (page) => page.waitForSelector('[data-exact=true]');

// With what `stats --clip --json` says.
export function compareWindow(text, rows, expected) {
  check(rows.length > 0, `${text}: the table has rows`);
  for (const row of rows) {
    const all = Object.entries(expected.calls);
    const there =
      all.find(([name]) => name === row.name) ?? all.find(([name]) => name.startsWith(row.name.slice(0, 20)));
    check(there, `${text}: stats --clip knows ${row.name}`);
    if (!there) continue;
    check(
      Math.round(Number(there[1].own_s) * 1e9) === row.own,
      `${text}: own time of ${row.name}: ${row.own}, stats ${there[1].own_s}`,
    );
    check(
      Math.round(Number(there[1].wall_s) * 1e9) === row.total,
      `${text}: time of ${row.name}: ${row.total}, stats ${there[1].wall_s}`,
    );
    check(Number(there[1].count) === row.calls, `${text}: calls of ${row.name}: ${row.calls}, stats ${there[1].count}`);
  }
}

// How many colours a timeline shows. Read from a copy: reading one that is drawn on again and again is remarked on.
export function coloursOf(canvas) {
  return canvas.evaluate((element) => {
    const copy = new OffscreenCanvas(element.width, element.height).getContext('2d');
    copy.drawImage(element, 0, 0);
    const { data } = copy.getImageData(200, 30, element.width - 220, 60);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return seen.size;
  });
}
