/** How long visits and scrolling take, and the tasks that hold the page meanwhile. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Place } from '../../support/console/places.ts';
import type { Visit, Visitor } from '../../support/console/visits.ts';

export interface TimedVisit extends Visit {
  /** From opening the address until nothing is being loaded. */
  readonly settledMs: number;
  /** The CPU time, in ms, of the longest task of the page. Other work on the machine does not count. */
  readonly longestTaskMs: number;
}

export async function visitTimed(page: Page, visitor: Visitor, place: Place): Promise<TimedVisit> {
  const startedAt = performance.now();
  const { result, longestTaskMs } = await traced(page, async () => {
    const visit = await visitor.visit(place);
    return { ...visit, settledMs: performance.now() - startedAt };
  });
  return { ...result, longestTaskMs };
}

export interface Scrolled {
  /** As of a visit. */
  readonly longestTaskMs: number;
  /** The longest time between two frames. */
  readonly longestFrameMs: number;
}

/** Scrolls the list with this label from its beginning to its end, a step in each frame. */
export async function scroll(page: Page, label: string, frames: number): Promise<Scrolled> {
  const script = scrollScript(label, frames);
  const { result, longestTaskMs } = await traced(page, () => page.evaluate<number>(script));
  return { longestFrameMs: result, longestTaskMs };
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
