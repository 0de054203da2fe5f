/** A browser for tests: Debian's Chromium, driven by Playwright. All files of a run share the one that TAILRACE_TEST_BROWSER names. */
import assert from 'node:assert/strict';
import { afterEach } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';
import { buildConsole, isStale } from '../../../packages/console/build.ts';
import { eventually, limitMs } from '@tailrace/testing';
import { findChromium } from '../clients.ts';

export interface PageOptions {
  readonly theme?: 'light' | 'dark';
  /** The width and height of a phone. */
  readonly phone?: boolean;
  /** Signs in with it, without the form. */
  readonly token?: string;
  readonly timezoneId?: string;
  /** Signs in, and loads nothing yet. */
  readonly isBlank?: boolean;
}

export interface OpenedPage {
  readonly page: Page;
  /** Errors of the page and of the policy, failed requests, and dialogs of scripts. */
  readonly complaints: string[];
  /** Requests to other servers. */
  readonly foreign: string[];
}

export interface ConsoleBrowser extends AsyncDisposable {
  open(url: string, options?: PageOptions): Promise<OpenedPage>;
}

/** Without what Chromium would load by itself. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP *.test 127.0.0.1',
];
export const screenSize = { width: 1280, height: 860 };
export const phoneSize = { width: 390, height: 844 };
/** Of the windows for which pages are made. */
export const narrowest = { width: 320, height: 640 };

/** With `TAILRACE_SLOW_BROWSER=1` each page is slow, each time in another way: what a test does not wait for is missing then. */
const isSlow = process.env['TAILRACE_SLOW_BROWSER'] === '1';
const slow = `{
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, Math.random() * ms));
  const { fetch, requestAnimationFrame } = window;
  window.fetch = (...asked) => pause(300).then(() => fetch(...asked)).then((answer) => pause(300).then(() => answer));
  window.requestAnimationFrame = (run) => requestAnimationFrame((at) => void pause(200).then(() => run(at)));
}`;

async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 3 });
}

/** Notes about what was done go by themselves, on a slow machine before a test reads them: they are remembered, and Undo stays. */
const keepNotes = `{
  const { setTimeout } = window;
  window.setTimeout = (run, ms, ...given) => (ms === 10_000 ? 0 : setTimeout(run, ms, ...given));
  const shown = new WeakMap();
  window.told = [];
  new MutationObserver(() => {
    for (const note of document.querySelectorAll('.toast, .note-bar')) {
      if (shown.get(note) !== note.textContent) window.told.push(note.textContent);
      shown.set(note, note.textContent);
    }
  }).observe(document, { characterData: true, childList: true, subtree: true });
}`;

const endpointVariable = 'TAILRACE_TEST_BROWSER';

/** A browser for all files of a run, which find it by the endpoint in TAILRACE_TEST_BROWSER. */
export async function startBrowser(): Promise<{ readonly endpoint: string } & AsyncDisposable> {
  const server = await chromium.launchServer({ executablePath: await findChromium(), args: flags });
  return { endpoint: server.wsEndpoint(), [Symbol.asyncDispose]: () => server.close() };
}

/** The browser of the run, or one of its own. To close it closes what was opened through it. */
export async function openChromium(): Promise<Browser> {
  const endpoint = process.env[endpointVariable] ?? '';
  if (endpoint !== '') return chromium.connect(endpoint);
  return chromium.launch({ executablePath: await findChromium(), args: flags });
}

/** Builds the console where it is older than its sources. */
export async function openBrowser(): Promise<ConsoleBrowser> {
  if (isStale()) await buildConsole();
  const browser = await openChromium();
  const pages = new Set<OpenedPage>();
  afterEach(async (context) => {
    await addPages(context as FailedContext, pages);
    pages.clear();
  });
  return {
    async open(url, options = {}) {
      const {
        theme = 'light',
        phone = false,
        token,
        timezoneId = 'Europe/Berlin',
        isBlank = false,
      } = options;
      const context = await browser.newContext({
        colorScheme: theme,
        locale: 'en-GB',
        timezoneId,
        reducedMotion: 'reduce',
        viewport: phone ? phoneSize : screenSize,
      });
      context.setDefaultTimeout(limitMs);
      if (token !== undefined) await signIn(url, token, (cookie) => context.addCookies([cookie]));
      await context.addInitScript(keepNotes);
      if (isSlow) await context.addInitScript(slow);
      const page = await context.newPage();
      if (isSlow) await slowDown(page);
      const complaints: string[] = [];
      const foreign: string[] = [];
      page.on('console', (message) => {
        // The first question of a page without a session is answered with 401, as it should be.
        if (message.type() !== 'error' || message.text().includes('status of 401')) return;
        complaints.push(message.text());
      });
      page.on('pageerror', ({ message }) => complaints.push(message));
      page.on('dialog', (dialog) => {
        complaints.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on('request', (request) => {
        const asked = request.url();
        if (!asked.startsWith(new URL(url).origin) && !asked.startsWith('data:')) foreign.push(asked);
      });
      const opened = { page, complaints, foreign };
      pages.add(opened);
      if (!isBlank) await page.goto(url);
      return opened;
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
    },
  };
}

/** What `@types/node` does not know of a test's context. */
interface FailedContext {
  readonly error?: Error | null;
}

/** Adds to the error of a failed test what its open pages show. */
async function addPages({ error }: FailedContext, pages: Iterable<OpenedPage>): Promise<void> {
  if (!(error?.cause instanceof Error)) return;
  const shown: unknown[] = [];
  for (const { page, complaints } of pages) {
    if (page.isClosed()) continue;
    shown.push({
      url: page.url(),
      complaints: complaints.join('\n'),
      shows: await page.locator('body').ariaSnapshot(),
    });
  }
  Object.assign(error.cause, { pages: shown });
}

type Cookie = Parameters<Awaited<ReturnType<Browser['newContext']>>['addCookies']>[0][number];

async function signIn(url: string, token: string, keep: (cookie: Cookie) => Promise<void>): Promise<void> {
  const folder = new URL('v1/session', url);
  const answer = await fetch(folder, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  assert.equal(answer.status, 201, await answer.text());
  const [name = '', value = ''] = (answer.headers.get('set-cookie') ?? '').split(';', 1)[0]?.split('=') ?? [];
  const path = folder.pathname.replace(/\/[^/]*$/, '');
  await keep({ name, value, domain: folder.hostname, path, httpOnly: true, sameSite: 'Strict' });
}

/** Resolves when the page has left its place of before: what is asserted then is of the new one. */
export async function goTo(page: Page, place: string): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const before = window.location.href;
    window.addEventListener('hashchange', resolve, { once: true });
    window.location.hash = ${JSON.stringify(place)};
    if (window.location.href === before) resolve();
  })`);
}

/** Opens the place in a page that is open already: `#/deliveries`. */
export async function visit(page: Page, place: string, heading: string | RegExp): Promise<void> {
  await goTo(page, place);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await settled(page);
}

/** Resolves when a note with this text was shown since the page was loaded: each of them once. */
export async function told(page: Page, text: string): Promise<void> {
  await eventually(() =>
    page.evaluate<boolean>(`(() => {
      const at = window.told.findIndex((note) => note.toLowerCase().includes(${JSON.stringify(text.toLowerCase())}));
      return at >= 0 && window.told.splice(at, 1).length > 0;
    })()`),
  );
}

const busy = '.skeleton, [aria-busy="true"]';
/** An expression for the page: something is being loaded or shown as a placeholder. */
export const isBusy = `document.querySelector('${busy}') !== null`;

/** Resolves when nothing is being loaded or shown as a placeholder. */
export async function settled(page: Page): Promise<void> {
  await page.locator(busy).first().waitFor({ state: 'detached' });
}

/** The rules of axe that depend on colours, and so on the theme. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/** What axe finds, as sentences. */
export async function axeProblems(page: Page, rules: readonly string[] = []): Promise<string[]> {
  // Once for a page that was loaded: its source is larger than the console.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  const options = { resultTypes: ['violations'], ...(rules.length > 0 && { runOnly: rules }) };
  const violations = await page.evaluate<AxeResults['violations']>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  return violations.map(({ id, help, nodes }) => {
    const where = nodes
      .slice(0, 3)
      .map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary ?? ''}`);
    return `${id}: ${help}: ${where.join(' | ')}`;
  });
}

/** All rules in the light theme and those of colours in the dark one, which is the same document. The page is light again then. */
export async function axeProblemsInBothThemes(page: Page): Promise<string[]> {
  const light = await axeProblems(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await axeProblems(page, colourRules);
  await page.emulateMedia({ colorScheme: 'light' });
  return [...light, ...dark.map((problem) => `dark: ${problem}`)];
}

/** The rows of lists that are higher than a phone has room for, as sentences. */
export function highRows(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`
    [...document.querySelectorAll('.list-row, .table tbody tr, .tail summary')].flatMap((row) => {
      const height = Math.round(row.getBoundingClientRect().height);
      return height > 72 ? [height + ' px: ' + row.textContent] : [];
    })`);
}

/** The buttons of rows and the tabs that are in sight only after scrolling sideways, as sentences. */
export function hiddenControls(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`
    [...document.querySelectorAll('.table button, .tabs a')].flatMap((control) => {
      const { right } = control.closest('.scroll, .tabs').getBoundingClientRect();
      const hidden = Math.round(control.getBoundingClientRect().right - right);
      return hidden > 0 ? [hidden + ' px of ' + control.textContent] : [];
    })`);
}

/** How many pixels the page is wider than its window. */
export function excessWidth(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
