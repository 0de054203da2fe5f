/** The cost of a visit of a page: its requests, the tasks that hold the page, and content that moves. */
import assert from 'node:assert/strict';
import type { Page, Request } from 'playwright-core';
import { settled } from './browser.ts';
import type { Place } from './places.ts';

export interface AnsweredRequest {
  /** Path and query. */
  readonly path: string;
  /** From sending the request to the first byte of its answer. */
  readonly serverMs: number;
  /** Headers and body as sent; 0 from the cache of the browser. */
  readonly bytes: number;
}

export interface Visit {
  readonly requests: readonly AnsweredRequest[];
  /** From opening the address until nothing is being loaded. */
  readonly settledMs: number;
  /** The CPU time, in ms, of the longest task of the page. Other work on the machine does not count. */
  readonly longestTaskMs: number;
  /** The sum of layout shifts without an input before. */
  readonly shift: number;
}

export interface Visitor {
  /** Opens the place as from a link: the whole page is loaded. */
  visit(place: Place): Promise<Visit>;
  /** The requests since the last visit began. */
  requests(): Promise<readonly AnsweredRequest[]>;
  /** Scrolls the list with this label from its beginning to its end, a step in each frame. */
  scroll(label: string, frames: number): Promise<Scrolled>;
}

export interface Scrolled {
  /** As of a visit. */
  readonly longestTaskMs: number;
  /** The longest time between two frames. */
  readonly longestFrameMs: number;
}

const observers = `
  window.watched = { shift: 0 };
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.watched.shift += value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

/** @param url of the console */
export async function createVisitor(page: Page, url: string): Promise<Visitor> {
  await page.addInitScript({ content: observers });
  let requests: Promise<AnsweredRequest>[] = [];
  page.on('requestfinished', (request) => requests.push(answered(request)));
  return {
    async visit({ hash, heading }) {
      // A change of the fragment alone would not load the page.
      await page.goto('about:blank');
      requests = [];
      const startedAt = performance.now();
      const { result: settledMs, longestTaskMs } = await traced(page, async () => {
        await page.goto(`${url}${hash}`);
        await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
        await settled(page);
        await page.locator('.chart:not(:has(canvas))').first().waitFor({ state: 'detached' });
        return performance.now() - startedAt;
      });
      const shift = await page.evaluate<number>('window.watched.shift');
      return { requests: await Promise.all(requests), settledMs, longestTaskMs, shift };
    },
    requests: () => Promise.all(requests),
    async scroll(label, frames) {
      const script = scrollScript(label, frames);
      const { result, longestTaskMs } = await traced(page, () => page.evaluate<number>(script));
      return { longestFrameMs: result, longestTaskMs };
    },
  };
}

/** An event of Chromium's trace; `tdur` is the CPU time of its thread in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Does the work while Chromium records its tasks, of which those on the main threads of pages count. */
async function traced<Result>(
  page: Page,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly longestTaskMs: number }> {
  const browser = page.context().browser();
  assert.ok(browser);
  await browser.startTracing(page, { categories: ['toplevel'] });
  const result = await work();
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;
  const isPage = ({ name, args }: TraceEvent): boolean =>
    name === 'thread_name' && args?.name === 'CrRendererMain';
  const pages = new Set(trace.traceEvents.filter(isPage).map(threadOf));
  const tasks = trace.traceEvents.filter((event) => event.tdur !== undefined && pages.has(threadOf(event)));
  assert.ok(tasks.length > 0, 'the trace has no task of a page');
  return { result, longestTaskMs: tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur), 0) / 1_000 };
}

function scrollScript(label: string, frames: number): string {
  return `new Promise((resolve) => {
    const list = document.querySelector('[role="listbox"][aria-label=${JSON.stringify(label)}]');
    const end = list.scrollHeight - list.clientHeight;
    let [done, longestFrameMs, last] = [0, 0, performance.now()];
    const step = () => {
      const now = performance.now();
      longestFrameMs = Math.max(longestFrameMs, now - last);
      last = now;
      list.scrollTop = (end * done) / ${frames};
      if (done++ < ${frames}) requestAnimationFrame(step);
      else resolve(longestFrameMs);
    };
    list.scrollTop = 0;
    requestAnimationFrame(step);
  })`;
}

async function answered(request: Request): Promise<AnsweredRequest> {
  const { pathname, search } = new URL(request.url());
  const { requestStart, responseStart } = request.timing();
  const { responseBodySize, responseHeadersSize } = await request.sizes();
  return {
    path: `${pathname}${search}`,
    serverMs: responseStart - requestStart,
    bytes: responseBodySize + responseHeadersSize,
  };
}
