/** The cost of a visit of a page: its requests, and content that moves. */
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
  readonly shift: number;
}

export interface Visitor {
  /** Opens the place as from a link: the whole page is loaded. */
  visit(place: Place): Promise<Visit>;
  /** The sum of layout shifts without an input before, since the last visit began. */
  shift(): Promise<number>;
  /** The requests since the last visit began. */
  requests(): Promise<readonly AnsweredRequest[]>;
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
  const shift = () => page.evaluate<number>('window.watched.shift');
  page.on('requestfinished', (request) => requests.push(answered(request)));
  return {
    async visit({ hash, heading }) {
      // A change of the fragment alone would not load the page.
      await page.goto('about:blank');
      requests = [];
      await page.goto(`${url}${hash}`);
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
      await settled(page);
      await page.locator('.chart:not(:has(canvas))').first().waitFor({ state: 'detached' });
      return { requests: await Promise.all(requests), shift: await shift() };
    },
    shift,
    requests: () => Promise.all(requests),
  };
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
