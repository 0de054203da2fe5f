/** The budgets of the console: bytes, requests, content that moves, and the height of rows. Its bench measures tasks that hold the page. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { adminToken, names, type Api } from '../../services/control/src/testing/api.ts';
import { createFlow } from '../../services/control/src/testing/flow.ts';
import { eventually } from '@tailrace/testing';
import { hiddenControls, highRows, phoneSize, screenSize, visit } from '../support/console/browser.ts';
import { openConsole } from '../support/console/console.ts';
import { seedEntries } from '../support/console/entries.ts';
import { seed } from '../support/console/history.ts';
import { seededPlaces } from '../support/console/places.ts';
import { createVisitor, type AnsweredRequest } from '../support/console/visits.ts';

const started = new AsyncDisposableStack();
after(() => started.disposeAsync());
const { browser, url } = started.use(
  await openConsole(async (control) => {
    await seed(control);
    await seedEntries(control);
    await seedMany(control);
  }),
);

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

/**
 * Of a page. `assetBytes` are those of all pages together, `editorBytes` those of the editor of transforms, and `firstBytes` those of the
 * sign-in page. Headers count.
 */
const most = {
  assetBytes: 155_000,
  editorBytes: 140_000,
  firstBytes: 23_000,
  assets: 20,
  apiRequests: 8,
  shift: 0.05,
};
const editorPlace = 'destination-transform';

function isOfEditor({ path }: AnsweredRequest): boolean {
  return path.includes('/code-editor-');
}

function sizeOf(requests: readonly AnsweredRequest[]): number {
  return requests.reduce((sum, { bytes }) => sum + bytes, 0);
}

test('all pages together are a small load, none jumps or asks much, and a phone has low rows with their buttons', async () => {
  const { page, foreign, complaints } = await browser.open(url, { token: adminToken, isBlank: true });
  // How often a page asks again meanwhile depends on the machine.
  await page.addInitScript({ content: 'window.setInterval = () => 0;' });
  const visitor = await createVisitor(page, url);
  let assetBytes = 0;
  let editorBytes = 0;
  const withoutAttempts = { name: 'destination-idle', hash: '#/destinations/paused', heading: 'paused' };
  for (const place of [...seededPlaces, withoutAttempts]) {
    const { requests, shift } = await visitor.visit(place);
    const assets = requests.filter(({ path }) => !path.startsWith('/v1/'));
    const apiRequests = requests.length - assets.length;
    const editor = assets.filter(isOfEditor);
    const others = assets.filter((asset) => !isOfEditor(asset));
    assert.equal(editor.length > 0, place.name === editorPlace, `${place.name}: the editor`);
    assetBytes += sizeOf(others);
    editorBytes += sizeOf(editor);
    assert.ok(assets.length <= most.assets, `${place.name}: ${assets.length} files`);
    assert.ok(apiRequests <= most.apiRequests, `${place.name}: ${apiRequests} requests`);
    assert.ok(shift <= most.shift, `${place.name}: a layout shift of ${shift}`);
    await page.setViewportSize(phoneSize);
    await eventually(
      async () => [...(await highRows(page)), ...(await hiddenControls(page))],
      (problems) => problems.length === 0,
    );
    await page.setViewportSize(screenSize);
  }
  assert.ok(assetBytes > 10_000 && assetBytes <= most.assetBytes, `${assetBytes} bytes`);
  assert.ok(editorBytes > 10_000 && editorBytes <= most.editorBytes, `${editorBytes} bytes of the editor`);
  assert.deepEqual([...foreign, ...complaints], []);
  await page.context().close();
});

test('the sign-in page is a small load', async () => {
  const { page } = await browser.open(url, { isBlank: true });
  const visitor = await createVisitor(page, url);
  const { requests } = await visitor.visit({ name: 'sign-in', hash: '', heading: 'Tailrace' });
  const bytes = sizeOf(requests);
  assert.ok(bytes > 10_000 && bytes <= most.firstBytes, `${bytes} bytes`);
  await page.context().close();
});

test('a list of 100,000 has few rows in the page, and its end is reached', async () => {
  const { page } = await browser.open(url, { token: adminToken });
  const perPage = 5_000;
  await page.route('**/v1/deliveries?**', async (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const items = Array.from({ length: perPage }, (_, index) => ({
      deliveryId: `d-${from + index}`,
      eventId: 'e',
      sourceId: 'web',
      destinationId: 'crm',
      type: 'track',
      event: `Event ${from + index}`,
      userKey: 'ada',
      status: 'delivered',
      attempts: 1,
      createdAt: '2026-11-22T10:00:00.000Z',
    }));
    const next = from + perPage < 100_000 ? { next: String(from + perPage) } : {};
    await route.fulfill({ json: { items, ...next } });
  });
  await visit(page, '#/deliveries', 'Deliveries');
  const list = page.getByRole('listbox', { name: 'Deliveries' });
  for (let end = perPage; end <= 100_000; end += perPage) {
    await list.locator(`[aria-setsize="${end}"]`).first().waitFor();
    await list.press('End');
  }
  await page.getByText('Event 99999', { exact: true }).waitFor();
  assert.ok((await list.getByRole('option').count()) < 100);
  await list.press('Home');
  await page.getByText('Event 0', { exact: true }).waitFor();
  await page.context().close();
});
