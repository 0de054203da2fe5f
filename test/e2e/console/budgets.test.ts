/** The budgets of the console: bytes, requests, content that moves, and tasks that hold the page. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { adminToken, names, openApi, type Api } from '../../../services/control/src/testing/api.ts';
import { createFlow } from '../../../services/control/src/testing/flow.ts';
import { openBrowser, type ConsoleBrowser } from '../../support/console/browser.ts';
import { seed } from '../../support/console/history.ts';
import { placesOf } from '../../support/console/places.ts';
import { createVisitor } from '../../support/console/visits.ts';

let control: Api;
let browser: ConsoleBrowser;
let url: string;
before(async () => {
  // First: it builds the console where it is older than its sources, and control reads it at its start.
  browser = await openBrowser();
  control = await openApi();
  await seed(control);
  await seedMany(control);
  url = `${await control.listen()}/`;
});
after(async () => {
  await browser[Symbol.asyncDispose]();
  await control[Symbol.asyncDispose]();
});

/** More rows than a screen shows: dead letters of many destinations, and events of many names. */
async function seedMany(control: Api): Promise<void> {
  const { kafka } = control;
  const rows = Array.from({ length: 150 }, (_, n) => n);
  const flow = createFlow(kafka);
  for (const n of rows) {
    const letter = { ...flow.delivery(`many-${n}`), attempt: 1, reason: 'client-error' };
    await flow.publish(names.deliveriesDead, letter);
  }
  const at = new Date().toISOString();
  const events = rows.map((n) => ({ event: `Event ${n}`, calls: 1, filtered: 0, firstAt: at, lastAt: at }));
  const usage = { sourceId: 'web', day: at.slice(0, 10), calls: { track: 150 }, filtered: 0, events };
  await kafka.publisher({}).publish({ topic: names.usage, key: 'web', value: JSON.stringify(usage) });
  await control.historyRead();
}

const places = placesOf({
  delivery: ['00000000-0000-4000-8000-000000000255', 'Signed Up'],
  eventId: 'event-filtered',
  source: ['web', 'Website'],
  destination: ['crm', 'Customer database'],
  failing: ['erp', 'Orders'],
  waiting: ['mailer', 'Mail service'],
});
/** Of a page. `assetBytes` are those of all pages together, so that no first load is larger. */
const most = { assetBytes: 150_000, assets: 20, apiRequests: 8, shift: 0.05, taskMs: 100 };
/** One second of scrolling. */
const frames = 60;

test('all pages together are a small load from this server, and none jumps, holds the browser or asks much', async () => {
  const { page, foreign, complaints } = await browser.open(url, { token: adminToken, isBlank: true });
  // How often a page asks again meanwhile depends on the machine.
  await page.addInitScript({ content: 'window.setInterval = () => 0;' });
  const visitor = await createVisitor(page, url);
  let assetBytes = 0;
  for (const place of places) {
    const { requests, shift, longestTaskMs } = await visitor.visit(place);
    const assets = requests.filter(({ path }) => !path.startsWith('/v1/'));
    const apiRequests = requests.length - assets.length;
    assetBytes += assets.reduce((sum, { bytes }) => sum + bytes, 0);
    assert.ok(assets.length <= most.assets, `${place.name}: ${assets.length} files`);
    assert.ok(apiRequests <= most.apiRequests, `${place.name}: ${apiRequests} requests`);
    assert.ok(shift <= most.shift, `${place.name}: a layout shift of ${shift}`);
    assert.ok(longestTaskMs <= most.taskMs, `${place.name}: a task of ${longestTaskMs} ms`);
  }
  assert.ok(assetBytes > 10_000 && assetBytes <= most.assetBytes, `${assetBytes} bytes`);
  assert.deepEqual([...foreign, ...complaints], []);
  await page.context().close();
});

test('a list of 100,000 has few rows in the page, its end is reached, and it scrolls without a stall', async () => {
  const { page } = await browser.open(url, { token: adminToken });
  const perPage = 5_000;
  await page.route('**/v1/deliveries?**', async (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const items = Array.from({ length: perPage }, (_, index) => ({
      ...{
        deliveryId: `d-${from + index}`,
        eventId: 'e',
        sourceId: 'web',
        destinationId: 'crm',
        type: 'track',
      },
      ...{ event: `Event ${from + index}`, userKey: 'ada', status: 'delivered', attempts: 1 },
      createdAt: '2026-11-22T10:00:00.000Z',
    }));
    const next = from + perPage < 100_000 ? { next: String(from + perPage) } : {};
    await route.fulfill({ json: { items, ...next } });
  });
  const visitor = await createVisitor(page, url);
  await visitor.visit({ name: 'deliveries', hash: '#/deliveries', heading: 'Deliveries' });
  const list = page.getByRole('listbox', { name: 'Deliveries' });
  for (let end = perPage; end <= 100_000; end += perPage) {
    await list.locator(`[aria-setsize="${end}"]`).first().waitFor();
    await list.press('End');
  }
  await page.getByText('Event 99999', { exact: true }).waitFor();
  assert.ok((await list.getByRole('option').count()) < 100);
  await list.focus();
  await page.keyboard.press('Home');
  await page.getByText('Event 0', { exact: true }).waitFor();
  const { longestTaskMs } = await visitor.scroll('Deliveries', frames);
  assert.ok(longestTaskMs <= most.taskMs, `a task of ${longestTaskMs} ms`);
  await page.context().close();
});
