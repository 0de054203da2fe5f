/** Texts of senders, receivers, colleagues and links are shown as texts, wherever they can come from. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { adminToken, names } from '../../services/control/src/testing/api.ts';
import { createFlow } from '../../services/control/src/testing/flow.ts';
import { goTo, settled, visit } from '../support/console/browser.ts';
import { openConsole } from '../support/console/console.ts';
import { activeParts, assertInert, hostile, hostileTexts } from '../support/console/inert.ts';
import { deliveryKey } from '@tailrace/records';
import { eventually } from '@tailrace/testing';

/** A receiver that is hostile in its status text, its headers and its body, which node:http would not permit. */
function openReceiver(): Server {
  const body = hostile;
  return createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.end(
        `HTTP/1.1 400 ${hostile}\r\nX-Answer: ${hostile}\r\nLocation: javascript:window.hacked=1\r\n` +
          `Content-Type: text/html\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
    });
  });
}

const started = new AsyncDisposableStack();
after(() => started.disposeAsync());
const { browser, control, url } = started.use(
  await openConsole(undefined, { TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8' }),
);
const receiver = openReceiver().listen(0, '127.0.0.1');
started.defer(() => {
  receiver.close();
});
await once(receiver, 'listening');
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/?q=<img%20src=x>`;
await control.expect(201, {
  method: 'POST',
  path: '/v1/sources',
  body: { id: 'web', name: hostile.slice(0, 200) },
});
const settings = { webhooks: [{ url: receiverUrl, headers: { 'X-Static': hostile } }] };
const filter = {
  events: { include: [hostileTexts.markup, '*'] },
  condition: { not: { field: 'properties.x', equals: hostile } },
};
const body = {
  id: 'crm',
  name: hostile.slice(0, 200),
  type: 'Webhooks',
  enabled: true,
  sources: ['web'],
  settings,
};
await control.expect(201, { method: 'POST', path: '/v1/destinations', body: { ...body, filter } });
await control.expect(201, {
  method: 'POST',
  path: '/v1/tokens',
  body: { name: hostileTexts.markup, scope: 'read' },
});
await control.expect(200, { method: 'POST', path: '/v1/suppressions', body: { userIds: [hostile] } });
await control.expect(200, {
  method: 'PUT',
  path: `/v1/sources/web/blocked-events/${encodeURIComponent(hostileTexts.markup)}`,
});
await publishHistory();
const opened = await browser.open(url, { token: adminToken });

async function publishHistory(): Promise<void> {
  const flow = createFlow(control.kafka);
  const made = flow.delivery('crm', {
    key: deliveryKey('crm', hostile),
    deliveryId: 'evil',
    eventName: hostile,
    eventId: hostile,
    sourceId: 'web',
  });
  const headers = { [hostile]: hostile };
  const exchange = { address: hostile, responseHeaders: headers, responseBody: hostile };
  const url = `https://x.example/${hostile}`;
  const failed = { url, reason: hostile, detail: hostile, latencyMs: 1, exchange };
  await flow.publish(names.deliveries, { ...made, body: Buffer.from(JSON.stringify({ event: hostile })) });
  await flow.attempt(made, 'dead', { reason: hostile, urls: [failed] });
  await flow.publish(names.deliveriesDead, { ...made, attempt: 1, reason: hostile });
  await flow.decision(hostile, [
    { reason: hostile, rule: { path: hostile, text: hostile }, destinations: [{ id: hostile }] },
  ]);
  await control.historyRead();
}

/** Each page with a part of the hostile text that is seen on it. */
const places: readonly string[] = [
  '#/deliveries',
  '#/deliveries/evil',
  `#/why/${encodeURIComponent(hostile)}`,
  '#/replays',
  '#/sources',
  '#/sources/web',
  '#/sources/web?tab=events',
  '#/destinations',
  '#/destinations/crm?tab=failures',
  '#/destinations/crm?tab=filter',
  '#/destinations/crm?tab=settings',
  '#/suppressions',
  '#/tokens',
  '#/audit',
];

test('names, ids, addresses, headers, rules and errors of others are texts on every page', async () => {
  const { page } = opened;
  for (const place of places) {
    await goTo(page, place);
    await settled(page);
    // Also in fields, whose value is no text of the page.
    await eventually(
      () =>
        page.evaluate<boolean>(
          `[...document.querySelectorAll('main, main input, main textarea')].some(
            (element) => (element.value ?? element.textContent).includes('window.hacked'))`,
        ),
      Boolean,
    );
    await assertInert(opened, place);
  }
});

test('questions about hostile names are texts', async () => {
  const { page } = opened;
  for (const [place, button] of [
    ['#/sources/web?tab=events', 'Unblock'],
    ['#/suppressions', 'Remove'],
    ['#/tokens', 'Revoke'],
    ['#/replays', 'Replay …'],
  ] as const) {
    await goTo(page, place);
    await page.getByRole('main').getByText(button, { exact: true }).first().click();
    if (button === 'Unblock') await page.getByText('No events yet').waitFor();
    else await page.getByRole('dialog').waitFor();
    await assertInert(opened, `${place} ${button}`);
    if (button === 'Unblock') continue;
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
});

test('the status text, the headers and the body of an answer are texts', async () => {
  const { page } = opened;
  await visit(page, '#/destinations/crm?tab=test', /./);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('failed', { exact: true }).waitFor();
  await page.getByText('x-answer:').waitFor();
  assert.ok((await page.getByText('window.hacked').count()) > 0);
  await assertInert(opened, 'the answer of a receiver');
});

test('messages of errors are texts', async () => {
  const { page } = opened;
  const json = {
    code: hostile,
    message: hostile,
    problems: [
      { field: hostile, rule: hostile },
      { field: 'name', rule: hostile },
    ],
  };
  await page.route('**/v1/sources', (route) => route.fulfill({ status: 400, json }));
  await visit(page, '#/sources/+new', 'Create a source');
  await page.getByLabel('Name', { exact: true }).fill(hostile);
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('window.hacked').first().waitFor();
  await assertInert(opened, 'the errors of a form');
  await page.unroute('**/v1/sources');
  await page.route('**/v1/destinations/crm/pause', (route) => route.fulfill({ status: 409, json }));
  await visit(page, '#/destinations/crm', /./);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.locator('.toast.bad').waitFor();
  await assertInert(opened, 'the error of an action');
});

test('a file with a hostile name and hostile lines makes texts only', async () => {
  const { page } = opened;
  await visit(page, '#/audiences/web', 'Audiences');
  await page.getByLabel('Name of the audience').fill('Buyers');
  const buffer = Buffer.from(`userId\n"${hostileTexts.markup}\n`);
  await page
    .getByLabel('File', { exact: true })
    .setInputFiles({ name: `${hostileTexts.markup.replaceAll('/', '')}.csv`, mimeType: 'text/csv', buffer });
  await page.getByRole('button', { name: 'Upload a list' }).click();
  await page.getByRole('alert').waitFor();
  await assertInert(opened, 'an upload');
});

test('an address from somebody runs nothing and changes nothing', async () => {
  const { page } = opened;
  const before = await control.expect(200, { path: '/v1/destinations/crm' });
  const changes: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') changes.push(`${request.method()} ${request.url()}`);
  });
  for (const fragment of [
    hostileTexts.address,
    `//evil.test/`,
    `/${encodeURIComponent(hostileTexts.address)}`,
    `/deliveries?status=${hostile}&event=${encodeURIComponent(hostile)}&since=${hostileTexts.markup}`,
    `/deliveries/${hostile}`,
    `/sources/${encodeURIComponent(hostile)}`,
    `/sources/web?tab=${hostile}&sdk=${hostile}`,
    `/destinations/+new?type=${hostile}&source=${encodeURIComponent(hostile)}`,
    `/destinations/+new?type=Webhooks&source=${encodeURIComponent(hostile)}`,
    `/replays?destination=${encodeURIComponent(hostile)}&reason=${hostile}`,
    `/audit?action=${encodeURIComponent(hostile)}&outcome=${hostile}`,
    `/?since=${encodeURIComponent(hostile)}&until=${hostile}`,
    '/__proto__/constructor?__proto__=1&constructor=1',
    '/sources/..',
    '/destinations/..%2F..%2Fsources',
    '/why/%E0%A4%A',
    '/deliveries/%',
  ]) {
    await goTo(page, `#${fragment}`);
    await page.locator('h1').waitFor();
    await settled(page);
    await assertInert(opened, fragment);
  }
  assert.deepEqual(changes, []);
  assert.deepEqual(await control.expect(200, { path: '/v1/destinations/crm' }), before);
});

test('an id that would shorten an address is not taken for another one', async () => {
  const { page } = opened;
  for (const id of ['.', '..']) {
    // A page that was left asks nothing any more.
    await visit(page, '#/tokens', 'Tokens');
    const asked: string[] = [];
    const note = (request: { url(): string }) => asked.push(request.url());
    page.on('request', note);
    await goTo(page, `#/deliveries/${id}`);
    await page.getByText('cannot be part of an address').first().waitFor();
    assert.deepEqual(
      asked.filter((address) => address.includes('/v1/') && !address.includes('/v1/stream')),
      [],
    );
    page.off('request', note);
  }
});

test('the check finds a script, an element and an address', async () => {
  const { page } = opened;
  await visit(page, '#/sources', 'Sources');
  await page.evaluate(`{
    window.hacked = 1;
    const link = document.createElement('a');
    link.href = 'javascript:void 0';
    document.querySelector('main').append(document.createElement('img'), link);
  }`);
  assert.equal((await activeParts(page)).length, 3);
});
