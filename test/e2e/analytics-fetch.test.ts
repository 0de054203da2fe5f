/**
 * The client for fetch where it is used: in pages of Chromium, which may end at any time, and in a runtime that has only the
 * programming interfaces of the web. Their calls arrive through ingest of another origin.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, test } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { realTimers } from '@tailrace/testing';
import { build } from 'esbuild';
import { chromium, type Page } from 'playwright-core';
import { openStage } from '../../services/ingest/src/testing/stage.ts';
import { findChromium } from '../support/clients.ts';
import { status } from '../support/receivers/answers.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const ingest = opened.use(await openStage());

const entry = path.join(import.meta.dirname, '../../packages/analytics-node/src/fetch.ts');
const bundled = await build({
  entryPoints: [entry],
  bundle: true,
  write: false,
  platform: 'browser',
  format: 'iife',
  globalName: 'tailrace',
});
const library = bundled.outputFiles[0]?.text ?? assert.fail();

/** Resolves once `events` has a call of this name. */
async function arrived(event: string): Promise<void> {
  await ingest.events.find((record) => record.value?.includes(`"event":"${event}"`) ?? false);
}

/** A page with a client, of another origin than ingest. */
async function openPage(endpoint: string): Promise<Page> {
  const page = await (await context).newPage();
  await page.goto(site);
  const options = JSON.stringify({ writeKey: 'wk_web', endpoint });
  await page.evaluate(`window.analytics = new tailrace.Analytics(${options})`);
  return page;
}

const pages = createServer((_, response) => {
  response.setHeader('content-type', 'text/html');
  response.end(`<!doctype html><title>Shop</title><script>${library}</script>`);
});
pages.listen(0, '127.0.0.1');
await once(pages, 'listening');
opened.defer(async () => {
  pages.closeAllConnections();
  pages.close();
  await once(pages, 'close');
});
const site = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
/** A page with a context of its own ends with it, and the requests that outlive a page end too. */
const context = (async () => {
  const executablePath = await findChromium();
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  return opened.use(browser).newContext();
})();

test('calls of a page arrive', async () => {
  const page = await openPage(ingest.url);
  const result = await page.evaluate(`(async () => {
    analytics.page({ anonymousId: 'a-7', name: 'Shop' });
    analytics.track({ anonymousId: 'a-7', event: 'Page Read', properties: { text: 'Zoë' } });
    await analytics.flush();
    return analytics.stats();
  })()`);
  assert.deepEqual(result, { queued: 0, sent: 2, unsent: 0, dropped: 0 });
  await arrived('Page Read');
  await page.close();
});

test('calls that wait when a page is left for another one arrive', async () => {
  const page = await openPage(ingest.url);
  await page.evaluate(`
    analytics.track({ anonymousId: 'a-7', event: 'Link Clicked' });
    for (let n = 0; n < 50; n++) {
      analytics.track({ anonymousId: 'a-7', event: 'Seen ' + n, properties: { text: 'x'.repeat(300) } });
    }
  `);
  await page.goto(`${site}next`);
  for (const event of ['Link Clicked', 'Seen 0', 'Seen 49']) await arrived(event);
  await page.close();
});

test('calls that wait when a page is closed arrive, also beside a request in flight', async () => {
  const page = await openPage(ingest.url);
  await page.evaluate(`
    analytics.track({ anonymousId: 'a-7', event: 'In Flight' });
    analytics.flush();
    setTimeout(() => analytics.track({ anonymousId: 'a-7', event: 'Waiting' }), 0);
  `);
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 0))');
  await page.close({ runBeforeUnload: true });
  for (const event of ['In Flight', 'Waiting']) await arrived(event);
});

test('a page sends no request for permission, and tries again what failed', async () => {
  await using server = await startReceiver({
    answer: (_, nth) => status(nth === 1 ? 503 : 200, { 'access-control-allow-origin': '*' }),
  });
  const page = await openPage(server.url);
  await page.evaluate(
    `analytics.track({ anonymousId: 'a-7', event: 'E' }); analytics.close({ deadlineMs: 60_000 })`,
  );
  assert.deepEqual(
    server.requests.map(({ method }) => method),
    ['POST', 'POST'],
  );
  await page.close();
});

test('a runtime that has only the interfaces of the web sends calls, with a key in the header', async () => {
  const web = {
    fetch,
    URL,
    TextEncoder,
    TextDecoder,
    AbortController,
    crypto,
    performance,
    console,
    btoa,
    ...realTimers,
    queueMicrotask,
  };
  const context = createContext({ ...web, endpoint: ingest.url });
  runInContext(library, context);
  const result = (await runInContext(
    `(async () => {
      const analytics = new tailrace.Analytics({ writeKey: 'wk_web', endpoint });
      analytics.track({ userId: 'ada', event: 'At The Edge' });
      await analytics.flush();
      return JSON.stringify([analytics.stats(), await analytics.close(), typeof process, typeof setImmediate]);
    })()`,
    context,
  )) as string;
  assert.deepEqual(JSON.parse(result), [
    { queued: 0, sent: 1, unsent: 0, dropped: 0 },
    { unsent: 0, kept: 0 },
    'undefined',
    'undefined',
  ]);
  await arrived('At The Edge');
});
