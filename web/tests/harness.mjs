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
  const child = spawn(fathom, ['view', ...args, '--json', '--idle', '120s', '--quiet'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
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
