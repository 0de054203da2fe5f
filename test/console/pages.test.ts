/** The pages of the console in a browser, on control with an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { deliveryKey } from '@tailrace/records';
import type { Request } from 'playwright-core';
import { adminToken, names, newCluster, openApi, readToken } from '../../services/control/src/testing/api.ts';
import { createFlow } from '../../services/control/src/testing/flow.ts';
import { eventually } from '@tailrace/testing';
import {
  axeProblems,
  axeProblemsInBothThemes,
  excessWidth,
  goTo,
  narrowest,
  settled,
  told,
  visit,
} from '../support/console/browser.ts';
import { openConsole } from '../support/console/console.ts';
import { seed } from '../support/console/history.ts';

const started = new AsyncDisposableStack();
after(() => started.disposeAsync());
const { browser, control, url } = started.use(
  await openConsole(async (control) => {
    await seed(control);
    const body = { userIds: ['grace'] };
    await control.expect(200, { method: 'POST', path: '/v1/suppressions', body });
  }),
);

const dead = '00000000-0000-4000-8000-000000000241';
/** Each page with its heading. */
const places: readonly (readonly [place: string, heading: string])[] = [
  ['#/', 'Overview'],
  ['#/deliveries', 'Deliveries'],
  [`#/deliveries/${dead}`, 'Order Completed'],
  ['#/filtered', 'Filtered'],
  ['#/filtered?reason=filter&destination=nowhere', 'Filtered'],
  ['#/why', 'Why'],
  ['#/why/event-filtered', 'Why'],
  ['#/why/event-1', 'Why'],
  ['#/why?user=ada', 'Why'],
  ['#/issues', 'Issues'],
  ['#/replays', 'Dead letters'],
  ['#/replays/+events?destination=erp', 'Send past events'],
  ['#/users/grace', 'Users'],
  ['#/sources/web?tab=live', 'Website'],
  ['#/sources/web?tab=usage', 'Website'],
  ['#/destinations/mailer', 'Mail service'],
  ['#/destinations/erp?tab=failures', 'Orders'],
];

/** Pages with much beside each other. */
const wide: typeof places = [
  ['#/deliveries/00000000-0000-4000-8000-000000000255', 'Signed Up'],
  ['#/destinations/erp?tab=filter', 'Orders'],
];

test('axe finds nothing on any page, in both themes, and no page is wider than the narrowest phone', async () => {
  const { page, complaints, foreign } = await browser.open(url, { token: adminToken });
  for (const [place, heading] of places) {
    await visit(page, place, heading);
    assert.deepEqual(await axeProblemsInBothThemes(page), [], place);
  }
  await page.setViewportSize(narrowest);
  for (const [place, heading] of [...places, ...wide]) {
    await visit(page, place, heading);
    const excess = await excessWidth(page);
    assert.ok(excess <= 0, `${place} is ${excess} px wider than its window`);
  }
  assert.deepEqual([...complaints, ...foreign], []);
  await page.context().close();
});

test('the sign-in keeps nothing that a script can read, and axe finds nothing on it', async () => {
  const { page, complaints } = await browser.open(url);
  await page.getByLabel('Token').waitFor();
  assert.deepEqual(await axeProblems(page), []);
  await page.getByLabel('Token').fill('wrong-token');
  await page.keyboard.press('Enter');
  await page.getByText('Invalid token').waitFor();
  await page.getByLabel('Token').fill(adminToken);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  const readable = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.body.innerHTML])',
  );
  assert.ok(!readable.includes(adminToken) && !readable.includes('tailrace_session'));
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  await page.reload();
  await page.getByLabel('Token').waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a read-only user sees no button that changes something', async () => {
  const { page } = await browser.open(url, { token: readToken });
  for (const [place, heading] of places) {
    await visit(page, place, heading);
    const buttons = await page.locator('main').getByRole('button').allInnerTexts();
    // A view is kept in the browser.
    const changing = buttons.filter((name) =>
      /resend|retry all|replay|create|delete|save(?! this view)/i.test(name),
    );
    assert.deepEqual(changing, [], place);
  }
  assert.equal(await page.getByRole('link', { name: 'Tokens' }).count(), 0);
  await page.context().close();
});

test('pages are reached by keyboard alone', async () => {
  const { page } = await browser.open(url, { token: adminToken });
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('deliv');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor();
  await page.getByRole('listbox', { name: 'Deliveries' }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByText('Timeline').waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('event-filtered');
  await page.keyboard.press('Enter');
  await page.getByText('properties.total atLeast 100', { exact: true }).waitFor();
  for (const [typed, option, heading] of [
    ['mail serv', 'Mail service', 'Mail service'],
    ['mobile', 'Mobile app', 'Mobile app'],
    ['grace', 'User', 'Users'],
  ] as const) {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill(typed);
    await page.getByRole('option', { name: option }).waitFor();
    const options = await page.getByRole('option').allInnerTexts();
    const place = options.findIndex((text) => text.includes(option));
    for (let step = 0; step < place; step += 1) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  }
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.context().close();
});

test('the page of a user has their calls, deliveries, what was filtered, audiences, deletions and suppression', async () => {
  const requested = { requestId: 'gdpr-7', userIds: ['alan'] };
  await control.expect(202, { method: 'POST', path: '/v1/deletions', body: requested });
  const members = {
    method: 'PUT',
    path: '/v1/sources/web/audiences/Buyers',
    headers: { 'content-type': 'text/csv' },
    bytes: 'userId\nbarbara\n',
  } as const;
  await control.expect(202, members);

  const { page, complaints } = await browser.open(url, { token: adminToken });
  await visit(page, '#/users', 'Users');
  await page.getByLabel('User id').fill('ada');
  await page.keyboard.press('Enter');
  await page.getByText('Not suppressed.').waitFor();
  await page.getByText('None in force.').waitFor();
  await page.getByRole('region', { name: 'Calls' }).getByRole('link', { name: 'Cart Emptied' }).waitFor();
  const filtered = page.getByRole('region', { name: 'Filtered' });
  await filtered.getByRole('link', { name: 'Order Completed' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Why' }).waitFor();
  await visit(page, '#/users/grace', 'Users');
  await page.getByText(/^Suppressed since/).waitFor();
  await page.getByRole('region', { name: 'Deliveries' }).getByRole('row').nth(1).getByRole('link').click();
  await page.getByRole('main').getByRole('link', { name: 'grace' }).click();
  await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
  await visit(page, '#/users/alan', 'Users');
  await page.getByRole('main').getByRole('link', { name: 'gdpr-7' }).waitFor();
  await eventually(
    () => control.expect(200, { path: '/v1/users/barbara/audiences' }),
    ({ items }) => (items as unknown[]).length === 1,
  );
  await visit(page, '#/users/barbara', 'Users');
  await page.getByRole('main').getByRole('link', { name: 'Buyers' }).waitFor();

  await visit(page, '#/why', 'Why');
  await page.getByLabel('User id').fill('ada');
  await page.getByRole('button', { name: 'Find events' }).click();
  await page.getByRole('link', { name: 'Cart Emptied' }).click();
  await page.getByRole('figure', { name: 'Event flow' }).getByRole('link', { name: 'web' }).waitFor();
  assert.deepEqual(
    complaints.filter((complaint) => !complaint.includes('status of 404')),
    [],
  );
  await page.context().close();
});

test('a count that nobody waits for any more is interrupted', async () => {
  const { page } = await browser.open(url, { token: adminToken });
  await page.route('**/v1/replays/*', async (route) => {
    if (route.request().method() !== 'GET') return route.continue();
    const answer = await route.fetch();
    const counting = { ...((await answer.json()) as object), state: 'counting', endedAt: undefined };
    return route.fulfill({ json: counting });
  });
  const isOfReplay = (method: string) => (request: Request) =>
    request.method() === method && request.url().includes('/v1/replays/');
  await visit(page, '#/replays/+events?destination=erp', 'Send past events');
  for (const [begin, leave] of [
    ['Count events', page.getByRole('button', { name: 'All events' })],
    ['Missed events', page.getByRole('link', { name: 'Cancel' })],
  ] as const) {
    const counted = page.waitForRequest(isOfReplay('GET'));
    await page.getByRole('button', { name: begin }).click();
    await counted;
    const interrupted = page.waitForRequest(isOfReplay('DELETE'));
    await leave.click();
    await interrupted;
  }
  // An answer may still be on its way.
  await page.unrouteAll({ behavior: 'wait' });
  await page.context().close();
});

test('rows are links', async () => {
  const { page } = await browser.open(url, { token: adminToken });
  for (const [place, heading, name] of [
    ['#/deliveries', 'Deliveries', 'Deliveries'],
    ['#/filtered', 'Filtered', 'Filtered events'],
  ] as const) {
    await visit(page, place, heading);
    const opening = page.context().waitForEvent('page');
    const [first] = await page.getByRole('listbox', { name }).getByRole('option').all();
    await first?.click({ modifiers: ['Control'] });
    const other = await opening;
    await other.waitForURL(/#\/(deliveries|why)\/.+/);
    assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), heading);
    await other.close();
  }
  await visit(page, '#/destinations', 'Destinations');
  // Not on the text of the link.
  await page.getByText('https://crm.example.com/hook').click({ force: true });
  await page.getByRole('heading', { level: 1, name: 'Customer database' }).waitFor();
  await page.context().close();
});

test('texts of others stay texts', async () => {
  const evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>{{7*7}}';
  const flow = createFlow(control.kafka);
  const made = flow.delivery('crm', {
    key: deliveryKey('crm', evil),
    deliveryId: 'evil-1',
    eventName: evil,
    eventId: evil,
  });
  const urls = [{ url: `https://x.example/${evil}`, reason: 'timeout', detail: evil, latencyMs: 1 }];
  await flow.publish(names.deliveries, { ...made, body: Buffer.from(JSON.stringify({ event: evil })) });
  await flow.attempt(made, 'retry', { reason: 'timeout', urls });
  await flow.decision(evil, [
    { reason: evil, rule: { path: evil, text: evil }, destinations: [{ id: 'crm' }] },
  ]);
  await control.historyRead();
  const { page, complaints } = await browser.open(`${url}#/deliveries/${made.deliveryId}`, {
    token: adminToken,
  });
  await page.getByRole('heading', { level: 1, name: evil }).waitFor();
  await settled(page);
  for (const place of ['#/deliveries', '#/filtered', `#/why/${encodeURIComponent(evil)}`]) {
    await goTo(page, place);
    await page.getByText(evil).first().waitFor();
    await settled(page);
  }
  assert.equal(await page.evaluate<boolean>(`'hacked' in window`), false);
  assert.equal(await page.locator('main img, main script').count(), 0);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

/** A proxy, as before a service of a cluster: it closes the connection where `target` says that there is no server. */
async function startProxy(target: () => string | undefined, prefix = ''): Promise<Server & AsyncDisposable> {
  const proxy = createServer((incoming, outgoing) => {
    const origin = target();
    if (origin === undefined) {
      outgoing.destroy();
      return;
    }
    const { method, url = '', headers } = incoming;
    const passed = request(new URL(url.slice(prefix.length), origin), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => outgoing.destroy());
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

test('an open page says that the connection is lost, and recovers when control is back', async () => {
  const cluster = newCluster();
  const first = await openApi(cluster);
  let target: string | undefined = await first.listen();
  await using proxy = await startProxy(() => target);
  const { page } = await browser.open(`http://127.0.0.1:${portOf(proxy)}/`, { token: adminToken });
  // A page that asks for nothing by itself.
  await visit(page, '#/sources', 'Sources');
  target = undefined;
  await first[Symbol.asyncDispose]();
  proxy.closeAllConnections();
  await page.getByText('Connection lost').waitFor();
  await using second = await openApi(cluster);
  await second.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'later' } });
  target = await second.listen();
  await told(page, 'Reconnected');
  await page.getByText('Reconnected').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor();
  await page.context().close();
});

test('the console works behind a path prefix, over plain HTTP and under another name than localhost', async () => {
  await using proxy = await startProxy(() => url, '/ops/tailrace');
  const origin = `http://ops.test:${portOf(proxy)}`;
  const { page, complaints } = await browser.open(`${origin}/ops/tailrace/`);
  await page.getByLabel('Token').fill(adminToken);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  const [cookie] = await page.context().cookies(`${origin}/ops/tailrace/v1/x`);
  assert.deepEqual([cookie?.path, cookie?.httpOnly, cookie?.secure], ['/ops/tailrace/v1', true, false]);
  await page.reload();
  await page.locator('.chart canvas').first().waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('times are in the zone of the reader, with UTC beside them', async () => {
  const { page } = await browser.open(`${url}#/deliveries/${dead}`, {
    token: adminToken,
    timezoneId: 'Asia/Tokyo',
  });
  const time = page.locator('.facts time').first();
  await time.waitFor();
  const [shown, instant] = [await time.innerText(), (await time.getAttribute('datetime')) ?? ''];
  const local = new Date(Date.parse(instant) + 9 * 3_600_000).toISOString().replace('T', ' ').slice(0, 19);
  assert.ok(shown.startsWith(local), `${shown} for ${instant}`);
  assert.ok(shown.includes(`${instant.replace('T', ' ').slice(0, 19)} UTC`));
  assert.equal(await page.getByText(/\d UTC/).count(), 1, 'UTC is said once');
  await page.context().close();
});
