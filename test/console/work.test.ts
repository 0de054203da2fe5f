/** Work in the console: from a number to its events, a selection that is sent again, a condition that is built, a source of two people. */
import assert from 'node:assert/strict';
import { text as textOf } from 'node:stream/consumers';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { adminToken, names, readToken } from '../../services/control/src/testing/api.ts';
import { createFlow } from '../../services/control/src/testing/flow.ts';
import { axeProblems, told, visit } from '../support/console/browser.ts';
import { formatPosition } from '@tailrace/records';
import { eventually } from '@tailrace/testing';
import { openConsole } from '../support/console/console.ts';
import { seed } from '../support/console/history.ts';
import { budgets, startWalk } from '../support/console/walk.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const started = new AsyncDisposableStack();
after(() => started.disposeAsync());
const { browser, control, url } = started.use(
  await openConsole(seed, { TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8' }),
);

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
}

test('a number of filtered events leads to the events, and an event to its whole way', async () => {
  const { page, complaints } = await browser.open(url, { token: readToken });
  await page.getByRole('link', { name: 'not delivered: excluded by a filter' }).waitFor();
  // The number of events received has two lists: each is of the same period.
  const lists = page.getByRole('link', {
    name: /^events (with deliveries|that a destination did not receive)/,
  });
  const [routed, filtered] = await lists.evaluateAll((links: readonly { readonly hash: string }[]) =>
    links.map(({ hash }) => hash),
  );
  assert.match(routed ?? '', /^#\/deliveries\?since=2\d{3}-.*until=2\d{3}-/);
  assert.match(filtered ?? '', /^#\/filtered\?since=2\d{3}-.*until=2\d{3}-/);
  await page.getByRole('link', { name: 'not delivered: excluded by a filter' }).click();
  await page.getByRole('heading', { level: 1, name: 'Filtered' }).waitFor();
  const list = page.getByRole('listbox', { name: 'Filtered events' });
  await list.getByText('web → erp').waitFor();
  assert.equal(await list.getByRole('option').count(), 1);
  await list.getByText('properties.total atLeast 100').waitFor();
  await page.getByLabel('Reason').selectOption('disabled');
  await list.getByText('web → mailer').waitFor();
  await list.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Why' }).waitFor();
  await page.getByRole('heading', { name: 'Filtered for all destinations' }).waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a list is saved as a file, with what is searched for', async () => {
  const { page, complaints } = await browser.open(`${url}#/deliveries?destination=erp`, { token: readToken });
  await visit(page, '#/deliveries?destination=erp', 'Deliveries');
  const saved = async (): Promise<{ readonly name: string; readonly text: string }> => {
    const begins = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export CSV' }).click();
    const download = await begins;
    return { name: download.suggestedFilename(), text: await textOf(await download.createReadStream()) };
  };
  const deliveries = await saved();
  assert.equal(deliveries.name, 'deliveries.csv');
  const { items } = await control.expect(200, { path: '/v1/deliveries?destination=erp&limit=200' });
  assert.equal(deliveries.text.trim().split('\r\n').length, (items as unknown[]).length + 1);
  await visit(page, '#/filtered?reason=filter', 'Filtered');
  const filtered = await saved();
  assert.match(filtered.text, /"filter","properties\.total atLeast 100"/);
  assert.doesNotMatch(filtered.text, /"disabled"/);
  for (const [place, heading, name] of [
    ['#/replays', 'Dead letters', 'dead-letters.csv'],
    ['#/issues?destination=erp', 'Issues', 'issues.csv'],
    ['#/destinations?search=crm', 'Destinations', 'destination-health.csv'],
  ] as const) {
    await visit(page, place, heading);
    const file = await saved();
    assert.equal(file.name, name);
    assert.match(file.text, name === 'destination-health.csv' ? /"crm"/ : /"erp"/);
  }
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('the search of a list is folded on a phone, and says what is searched for', async () => {
  const { page, complaints } = await browser.open(url, { token: readToken, phone: true });
  await visit(page, '#/deliveries?status=dead&destination=erp', 'Deliveries');
  const field = page.getByLabel('Destination', { exact: true });
  assert.equal(await field.isVisible(), false);
  await page.getByText('Search · dead · erp').click();
  await field.fill('crm');
  await press(page, 'Search');
  await page.getByText('No matching deliveries').waitFor();
  await page.getByText('Search · dead · crm').click();
  await field.waitFor({ state: 'hidden' });
  assert.deepEqual(await axeProblems(page), []);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a search is saved as a view of its page, and removed', async () => {
  const { page, complaints } = await browser.open(`${url}#/deliveries?status=dead`, { token: readToken });
  await visit(page, '#/deliveries?status=dead', 'Deliveries');
  await press(page, 'Save this view');
  await page.getByLabel('Name of the view').fill('Dead ones');
  assert.deepEqual(await axeProblems(page), []);
  await press(page, 'Save');
  await visit(page, '#/filtered', 'Filtered');
  assert.equal(await page.getByRole('link', { name: 'Dead ones' }).count(), 0);
  await visit(page, '#/deliveries', 'Deliveries');
  await page.reload();
  await page.getByRole('link', { name: 'Dead ones' }).click();
  await page.waitForURL(/#\/deliveries\?status=dead$/);
  await eventually(
    () => page.getByLabel('Status', { exact: true }).inputValue(),
    (status) => status === 'dead',
  );
  assert.deepEqual(await axeProblems(page), []);
  await press(page, 'Remove Dead ones');
  await page.getByRole('link', { name: 'Dead ones' }).waitFor({ state: 'detached' });
  await press(page, 'Undo');
  await page.getByRole('link', { name: 'Dead ones' }).waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('the period of a list is a span from a menu, or lies between two times that are picked', async () => {
  const { page, complaints } = await browser.open(`${url}#/deliveries?since=2h`, { token: readToken });
  await visit(page, '#/deliveries?since=2h', 'Deliveries');
  const period = page.getByLabel('Period');
  assert.equal(await period.inputValue(), '2h', 'another span of an address stays');
  await period.selectOption('between two times');
  await page.getByLabel('Since').fill('2026-01-01T00:00');
  await press(page, 'Search');
  // In Berlin.
  await page.waitForURL(/#\/deliveries\?since=2025-12-31T23%3A00%3A00\.000Z$/);
  assert.equal(await page.getByLabel('Since').inputValue(), '2026-01-01T00:00');
  assert.deepEqual(await axeProblems(page), []);
  await period.selectOption('last 24 hours');
  await page.waitForURL(/#\/deliveries\?since=24h$/);
  await page.getByLabel('Since').waitFor({ state: 'detached' });
  await period.selectOption('between two times');
  await press(page, 'Clear');
  await page.waitForURL(/#\/deliveries$/);
  await page.getByLabel('Since').waitFor({ state: 'detached' });

  // A choice searches for what was typed before it.
  await period.selectOption('between two times');
  await page.getByLabel('User', { exact: true }).fill('ada');
  await page.getByLabel('Status', { exact: true }).selectOption('delivered');
  await page.waitForURL(/#\/deliveries\?user=ada&status=delivered$/);
  await page.getByLabel('Since').fill('2026-01-01T00:00');
  await page.getByLabel('Type', { exact: true }).selectOption('track');
  await page.waitForURL(/\?user=ada&status=delivered&since=2025-[^&]*&type=track$/);
  await page.getByLabel('User', { exact: true }).fill('grace');
  await period.selectOption('last 24 hours');
  await page.waitForURL(/\?user=grace&status=delivered&since=24h&type=track$/);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a destination says what it waits for: since when its circuit breaker is open, the next probe, the backlog', async () => {
  const { page, complaints } = await browser.open(`${url}#/destinations/mailer`, { token: readToken });
  await visit(page, '#/destinations/mailer', 'Mail service');
  const waits = page.getByText(/The circuit breaker is open since \d{4}-.* next probe .* oldest/);
  await waits.waitFor();
  await page.getByRole('heading', { name: 'Pending over time' }).waitFor();
  await visit(page, '#/', 'Overview');
  await page.getByText(/open since \d{4}-/).waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});

/** Pixels of the charts that are neither grey nor transparent. */
const colouredPixels = `[...document.querySelectorAll('.chart canvas')].map((canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let at = 0; at < data.length; at += 4) {
    const colours = data.slice(at, at + 3);
    if (data[at + 3] > 200 && Math.max(...colours) - Math.min(...colours) > 80) found += 1;
  }
  return found;
})`;

test('the only day of a chart, and values without neighbours, are drawn as points', async () => {
  const { page, complaints } = await browser.open(url, { token: readToken });
  const items = [{ day: '2026-10-31', calls: 3, filtered: 1, byType: { track: 3 } }];
  await page.route('**/v1/sources/web/usage*', (route) => route.fulfill({ json: { items } }));
  await visit(page, '#/sources/web?tab=usage', 'Website');
  const isDrawn = (drawn: readonly number[]): boolean =>
    drawn.length === 1 && drawn.every((count) => count >= 20);
  await eventually(() => page.evaluate<number[]>(colouredPixels), isDrawn);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('what a receiver answered is read on the page of a delivery, of an event, and of failures', async () => {
  const { page, complaints } = await browser.open(url, { token: adminToken });
  const body = page.getByLabel('Response body').first();
  await visit(page, '#/deliveries/00000000-0000-4000-8000-000000000241', 'Order Completed');
  await body.getByText('"field": "properties.total"').waitFor();
  await page.getByText('203.0.113.7:443 · DNS 2 ms · connection 8 ms · TLS 12 ms · response 9 ms').waitFor();
  await page.getByText('Headers', { exact: true }).click();
  await page.getByLabel('Request headers').getByText('Authorization: ********').waitFor();
  await page.getByLabel('Response headers').getByText('x-request-id: 5f1c7a').waitFor();
  assert.deepEqual(await axeProblems(page), []);
  await visit(page, '#/why/event-241', 'Why');
  await body.getByText('"error": "invalid payload"').waitFor();
  assert.deepEqual(await axeProblems(page), []);
  await visit(page, '#/destinations/erp?tab=failures', 'Orders');
  await page.getByText('{"error":"invalid payload","field":"properties.total"}').first().waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('an ill destination is first in the list, and its issue is acknowledged, dismissed and reopened', async () => {
  const { page, complaints } = await browser.open(url, { token: adminToken });
  const walk = await startWalk(page);
  await page.getByRole('link', { name: 'Destinations', exact: true }).click();
  await page.getByRole('row', { name: /^erp/ }).waitFor();
  await walk.endsWithin(budgets.illDestinations);
  const rows = await page.getByRole('table').getByRole('row').allInnerTexts();
  assert.match(rows.slice(1).join(' | '), /^erp\b.*failing.*\| mailer\b.*failing.*\| crm\b.*healthy.*100 %/s);
  await visit(page, '#/sources/web', 'Website');
  await page.getByRole('listitem').filter({ hasText: 'Orders' }).getByText('failing').waitFor();
  await visit(page, '#/destinations/mailer', 'Mail service');
  await page.getByText(/^0 % delivered in the last hour · 9 pending$/).waitFor();

  await visit(page, '#/issues', 'Issues');
  const row = page.getByRole('row').filter({ hasText: 'The receiver rejected the event (4xx)' });
  await press(page, 'Acknowledge erp client-error');
  await page.getByLabel('Note').fill('Ada asks the provider.');
  assert.deepEqual(await axeProblems(page), []);
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
  await row.getByText(/^Ada asks the provider\. · acknowledged by TAILRACE_API_TOKEN/).waitFor();
  await press(page, 'Dismiss erp client-error');
  await page.getByRole('dialog').getByRole('button', { name: 'Dismiss' }).click();
  await row.getByText('dismissed', { exact: true }).waitFor();
  await page.getByLabel('State').selectOption('open');
  await row.waitFor({ state: 'detached' });
  await page.getByLabel('State').selectOption('dismissed');
  await press(page, 'Reopen erp client-error');
  await page.getByText('No matching issues').waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a body and a list that could not be read are asked for again', async () => {
  const { page } = await browser.open(url, { token: readToken, isBlank: true });
  const failing = '**/v1/deliveries/*/body';
  await page.route(failing, (route) => route.fulfill({ status: 500, body: 'Internal Server Error' }));
  await page.goto(`${url}#/deliveries/00000000-0000-4000-8000-000000000255`);
  await page.getByRole('alert').getByText('Something went wrong.').waitFor();
  await page.unroute(failing);
  await press(page, 'Try again');
  await page.getByText('Values are masked').or(page.getByText('"messageId"')).first().waitFor();

  const list = /\/v1\/deliveries\?/;
  await page.route(list, (route) => route.fulfill({ status: 500, body: 'Internal Server Error' }));
  await page.goto(`${url}#/deliveries`);
  await page.getByRole('alert').getByText('Something went wrong.').waitFor();
  assert.equal(await page.getByText('No matching deliveries').count(), 0);
  await page.unroute(list);
  await press(page, 'Try again');
  await page.getByRole('listbox', { name: 'Deliveries' }).waitFor();
  await page.context().close();
});

test('chosen deliveries are sent again, and each that is refused says why', async () => {
  const { page, complaints } = await browser.open(`${url}#/deliveries?destination=erp`, {
    token: adminToken,
  });
  await visit(page, '#/deliveries?destination=erp', 'Deliveries');
  const list = page.getByRole('listbox', { name: 'Deliveries' });
  const chosen = list.locator('[aria-selected="true"]');
  const isChosen = async (rows: number): Promise<void> => {
    await page.getByRole('button', { name: `Resend selected (${rows})` }).waitFor();
    assert.equal(await chosen.count(), rows);
  };
  await list.locator('.row-box').nth(1).click();
  await isChosen(1);
  await list
    .getByRole('option')
    .nth(3)
    .click({ modifiers: ['Shift'] });
  await isChosen(3);
  await list.press('Escape');
  await chosen.first().waitFor({ state: 'detached' });
  await list.press('Home');
  await list.press('Space');
  await list.press('Shift+ArrowDown');
  await isChosen(2);
  assert.deepEqual(await axeProblems(page), []);
  await press(page, 'Resend selected (2)');
  await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click();
  await page.getByText('Resending 2. 0 could not be resent.').waitFor();
  await press(page, 'Done');
  await control.historyRead();
  const { items } = await control.expect(200, { path: '/v1/dead-letters?destination=erp' });
  const resent = (items as { replayed: boolean; deliveryId: string }[]).filter(({ replayed }) => replayed);
  assert.equal(resent.length, 2);
  await visit(page, `#/deliveries/${resent[0]?.deliveryId ?? ''}`, 'Order Completed');
  await page.getByText('Sent again by TAILRACE_API_TOKEN').waitFor();

  // Pending deliveries are attempted anyway, so they are refused.
  await visit(page, '#/deliveries?destination=mailer', 'Deliveries');
  await list.press('Control+a');
  await press(page, 'Resend selected (9)');
  await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click();
  await page.getByText('Resending 0. 9 could not be resent.').waitFor();
  assert.equal(await page.getByRole('dialog').getByRole('listitem').count(), 9);
  assert.deepEqual(
    complaints.filter((complaint) => !complaint.includes('status of 409')),
    [],
  );
  await page.context().close();
});

test('a session that may only read chooses nothing', async () => {
  const { page } = await browser.open(`${url}#/deliveries`, { token: readToken });
  await visit(page, '#/deliveries', 'Deliveries');
  await page.getByRole('listbox', { name: 'Deliveries' }).press('Control+a');
  assert.equal(await page.locator('.row-box').count(), 0);
  assert.equal(await page.getByRole('button', { name: /select/i }).count(), 0);
  await page.context().close();
});

test('a condition is built by its parts or as JSON, each of which shows the other', async () => {
  const { page, complaints } = await browser.open(`${url}#/destinations/crm?tab=filter`, {
    token: adminToken,
  });
  await visit(page, '#/destinations/crm?tab=filter', 'Customer database');
  const json = page.getByLabel('Condition', { exact: true });
  await press(page, 'Add a condition');
  await page.getByLabel('Field of condition 1').fill('properties.total');
  await page.getByLabel('Operator of condition 1').selectOption('atLeast');
  await page.getByLabel('Value of condition 1').fill('100');
  const shows = (condition: object): Promise<string> =>
    eventually(
      () => json.inputValue(),
      (text) => text === JSON.stringify(condition, undefined, 2),
    );
  const total = { field: 'properties.total', atLeast: 100 };
  await shows(total);
  await press(page, 'Add a group');
  await page.getByLabel('Field of condition 1.2.1').fill('properties.currency');
  await page.getByLabel('Operator of condition 1.2.1').selectOption('oneOf');
  await page.getByLabel('Value of condition 1.2.1').fill('EUR\n"100"');
  await page.getByLabel('Combination of group 1.2').selectOption('not-any');
  const any = [{ field: 'properties.currency', oneOf: ['EUR', '100'] }];
  await shows({ all: [total, { not: { any } }] });
  assert.deepEqual(await axeProblems(page), []);
  await press(page, 'Test filter');
  await page.getByText('would not receive this call').waitFor();

  await json.fill('{"not":{"field":"userId","exists":true}}');
  await page.getByLabel('Field of condition 1.1').waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('Operator of condition 1').inputValue(), 'exists');
  assert.equal(await page.getByLabel('Sense of condition 1').inputValue(), 'not');
  await json.fill('{"not":{"not":{"field":"userId","exists":true}}}');
  await page.getByText('can only be edited as JSON').waitFor();
  await json.fill(JSON.stringify(total));
  await press(page, 'Save filter');
  await page.getByRole('button', { name: 'Remove filter' }).waitFor();
  const { filter } = await control.expect(200, { path: '/v1/destinations/crm' });
  assert.deepEqual(filter, { condition: total });
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a test event begins with an example or a recent event, and is sent as it was edited', async () => {
  await using receiver = await startReceiver();
  const settings = { webhooks: [{ url: `${receiver.url}/hook` }] };
  const destination = { id: 'tried', type: 'Webhooks', sources: ['web'], settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body: destination });
  const sent =
    '"type":"track","userId":"ada","timestamp":"2026-11-22T10:00:00.000Z","event":"Recent Order",' +
    '"properties":{"total":12345678901234567890}}';
  const ids = { deliveryId: '00000000-0000-4000-8000-999999999999', eventId: 'recent' };
  const value = `{"messageId":"recent",${sent}`;
  const headers = { 'source-id': 'web' };
  await control.kafka.publisher().publish({ topic: names.events, key: 'ada', value, headers });
  const record = control.cluster.records(names.events).find((one) => String(one.value) === value);
  assert.ok(record);
  const origin = { ...ids, eventName: 'Recent Order', eventPosition: formatPosition(record) };
  // It has what a destination got, which its `fields` and its transform may have changed.
  const flow = createFlow(control.kafka);
  await flow.publish(names.deliveries, flow.delivery('crm', { ...origin, body: Buffer.from('{}') }));
  await control.historyRead();
  const { page, complaints } = await browser.open(`${url}#/destinations/tried?tab=test`, {
    token: adminToken,
  });
  await visit(page, '#/destinations/tried?tab=test', 'tried');
  const call = page.getByLabel('Call', { exact: true });
  const shows = (expected: RegExp): Promise<string> =>
    eventually(
      () => call.inputValue(),
      (shown) => expected.test(shown),
    );
  await page.getByLabel('Example').selectOption('identify');
  await shows(/"type": "identify"[^]*"traits"/);
  await call.fill('{"type":"track","properties":7}');
  await press(page, 'Send');
  await page.locator('.problem', { hasText: 'Is not valid: ' }).waitFor();
  await press(page, 'Use a recent event');
  await page.getByRole('button', { name: 'Use Recent Order' }).waitFor();
  assert.deepEqual(await axeProblems(page), []);
  await page.getByRole('button', { name: 'Use Recent Order' }).click();
  await shows(/"total": 12345678901234567890/);
  await press(page, 'Undo');
  await shows(/"properties":7/);
  await press(page, 'Use a recent event');
  await page.getByRole('button', { name: 'Use Recent Order' }).click();
  await shows(/Recent Order/);
  await press(page, 'Send');
  await page.getByText('accepted').waitFor();
  assert.equal(receiver.requests.at(-1)?.body.toString(), `{"version":1,${sent}`);
  await visit(page, '#/destinations/tried?tab=filter', 'tried');
  await press(page, 'Use a recent event');
  await page.getByRole('button', { name: 'Use Recent Order' }).click();
  await page.getByLabel('Only these events').fill('Recent *');
  await press(page, 'Test filter');
  await page.getByText('would receive this call').waitFor();
  assert.deepEqual(
    complaints.filter((complaint) => !complaint.includes('status of 400')),
    [],
  );
  await page.context().close();
});

test('two people who change one source choose between their values', async () => {
  const { page, complaints } = await browser.open(`${url}#/sources/app?tab=settings`, { token: adminToken });
  await visit(page, '#/sources/app?tab=settings', 'Mobile app');
  await page.getByLabel('Name', { exact: true }).fill('Mine');
  await page.getByLabel('Enabled').uncheck();
  await page.getByLabel('Add IP addresses to events').check();
  const theirs = { name: 'Theirs', rateLimit: 20 };
  await control.expect(200, { method: 'PATCH', path: '/v1/sources/app', body: theirs });
  await press(page, 'Save');
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('heading', { name: 'Someone else changed this source' }).waitFor();
  assert.deepEqual(await axeProblems(page), []);
  await page.getByRole('radio', { name: /Theirs/ }).check();
  await press(page, 'Save selected values');
  await page.getByRole('heading', { level: 1, name: 'Theirs' }).waitFor();
  const { name, rateLimit, addIp, enabled } = await control.expect(200, { path: '/v1/sources/app' });
  assert.deepEqual({ name, rateLimit, addIp, enabled }, { ...theirs, addIp: true, enabled: false });
  await press(page, 'Undo');
  await told(page, 'Undone.');
  assert.equal((await control.expect(200, { path: '/v1/sources/app' }))['enabled'], true);
  assert.deepEqual(
    complaints.filter((complaint) => !complaint.includes('status of 412')),
    [],
  );
  await page.context().close();
});

test('an event is blocked whose name is a step of a path', async () => {
  const { page } = await browser.open(`${url}#/sources/web?tab=events`, { token: adminToken });
  await visit(page, '#/sources/web?tab=events', 'Website');
  await page.getByLabel('Event', { exact: true }).fill('..');
  await press(page, 'Block');
  await page.getByRole('dialog').getByRole('button', { name: 'Block' }).click();
  await page.getByRole('button', { name: 'Unblock ..' }).waitFor();
  const { schema } = await control.expect(200, { path: '/v1/sources/web' });
  assert.deepEqual(schema, { track: { blocked: ['..'] } });
  await page.getByRole('button', { name: 'Unblock ..' }).click();
  await page.getByRole('button', { name: 'Unblock ..' }).waitFor({ state: 'detached' });
  await page.context().close();
});

test('a list says what is new without moving what one reads, and shows it when asked', async () => {
  const { page, complaints } = await browser.open(url, { token: adminToken, isBlank: true });
  // A page asks again every few seconds.
  const often =
    'const set = window.setInterval; window.setInterval = (run, ms) => set(run, Math.min(ms, 200));';
  await page.addInitScript({ content: often });
  await page.goto(`${url}#/deliveries`);
  const rows = page.getByRole('listbox', { name: 'Deliveries' }).getByRole('option');
  const first = await rows.first().innerText();
  const flow = createFlow(control.kafka);
  const sent = { deliveryId: '00000000-0000-4000-8000-888888888888', eventId: 'just-sent' };
  await flow.publish(names.deliveries, flow.delivery('crm', { ...sent, eventName: 'Just Sent' }));
  await control.historyRead();
  const show = page.getByRole('button', { name: 'Show 1 new delivery' });
  await show.waitFor();
  assert.equal(await rows.first().innerText(), first);
  assert.deepEqual(await axeProblems(page), []);
  await show.click();
  await rows.first().getByText('Just Sent').waitFor();
  await page.getByText('Up to date').waitFor();

  await visit(page, '#/destinations', 'Destinations');
  const settings = { webhooks: [{ url: 'https://new.example.com/hook' }] };
  const added = { id: 'added', type: 'Webhooks', settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body: added });
  await page.getByRole('button', { name: 'Show 1 new destination' }).click();
  await page.getByRole('row', { name: /^added/ }).waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});
