/** Sources, destinations and people in the console, on control with an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { eventually } from '@tailrace/testing';
import { encodeOutage } from '../../services/control/src/outages/stored.ts';
import { adminToken, names, openApi, readToken } from '../../services/control/src/testing/api.ts';
import { createFlow } from '../../services/control/src/testing/flow.ts';
import {
  axeProblems,
  axeProblemsInBothThemes,
  excessWidth,
  narrowest,
  settled,
  told,
  visit,
} from '../support/console/browser.ts';
import { openConsole } from '../support/console/console.ts';
import { createVisitor } from '../support/console/visits.ts';

const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>';

const started = new AsyncDisposableStack();
after(() => started.disposeAsync());
const { browser, control, url } = started.use(await openConsole());
await createSource('web', 'Web site');
await createDestination('crm');

async function createSource(id: string, name: string): Promise<void> {
  await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id, name } });
}

async function createDestination(id: string): Promise<void> {
  const settings = { webhooks: [{ url: 'https://crm.example.com/hook' }] };
  const body = { id, type: 'Webhooks', enabled: true, sources: [], settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
}

function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click();
}

/** Answers the question of the dialog with yes. */
async function confirm(page: Page, name: string): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
}

test('a filter is tried on a call before it is saved', async () => {
  await createDestination('filtered');
  const { page, complaints } = await browser.open(`${url}#/destinations/filtered?tab=filter`, {
    token: adminToken,
  });
  await visit(page, '#/destinations/filtered?tab=filter', 'filtered');
  const condition = page.getByLabel('Condition', { exact: true });
  await condition.fill('{');
  await page.getByText('Enter a JSON object').waitFor();
  await condition.fill('{"field":"properties.total","atLeast":100}');
  await press(page, 'Test filter');
  await page.getByText('would not receive this call').waitFor();
  await page
    .getByLabel('Sample call')
    .fill('{"type":"track","userId":"a","event":"E","properties":{"total":100}}');
  await press(page, 'Test filter');
  await page.getByText('would receive this call').waitFor();
  await press(page, 'Save filter');
  await page.getByRole('button', { name: 'Remove filter' }).waitFor();
  const { filter } = await control.expect(200, { path: '/v1/destinations/filtered' });
  assert.deepEqual(filter, { condition: { field: 'properties.total', atLeast: 100 } });
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a transform is run on a call before it is saved, and the line that fails is marked', async () => {
  await createDestination('shaped');
  const place = '#/destinations/shaped?tab=transform';
  const { page, complaints } = await browser.open(`${url}${place}`, { token: adminToken });
  await visit(page, place, 'shaped');
  const code = page.getByRole('textbox', { name: 'Code' });
  const marked = page.locator('.cm-marked');
  /** As from the clipboard. */
  const write = async (text: string): Promise<void> => {
    await code.focus();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText(text);
  };
  await press(page, 'Test transform');
  await page.getByText('test-user: Test Event').waitFor();
  await write('(event) => {\n  console.log(event.type);\n  return event.a.b;\n}');
  await press(page, 'Test transform');
  await page.getByText('Line 3: TypeError').waitFor();
  await page.getByLabel('Logs').getByText('track').waitFor();
  assert.equal(await marked.innerText(), '  return event.a.b;');
  assert.deepEqual(await axeProblemsInBothThemes(page), []);
  await write('(event) => (event.type === "track" ? { to: event.userId } : null)');
  await press(page, 'Test transform');
  await page.getByLabel('Output').getByText('"to": "test-user"').waitFor();
  await page.getByLabel('Example').selectOption('page');
  await press(page, 'Test transform');
  await page.getByText('Returned null').waitFor();
  await write('(event) => {\n  return )');
  await press(page, 'Save transform');
  await page.locator('.problem', { hasText: 'syntax error in line 2' }).waitFor();
  assert.equal(await marked.innerText(), '  return )');
  await write('(event) => event.userId');
  // The keyboard leaves the editor as it leaves a field.
  await page.keyboard.press('Tab');
  assert.equal(await page.locator(':focus').innerText(), 'Save transform');
  await page.keyboard.press('Enter');
  await page.getByText('Version 1 is in use').waitFor();
  const { transform } = await control.expect(200, { path: '/v1/destinations/shaped' });
  assert.deepEqual(transform, { code: '(event) => event.userId', version: 1 });
  await page.setViewportSize(narrowest);
  assert.equal(await excessWidth(page), 0);
  await press(page, 'Remove transform');
  await page.getByText('Version 1 is in use').waitFor({ state: 'detached' });
  assert.deepEqual(
    complaints.filter((complaint) => !complaint.includes('status of 400')),
    [],
  );
  await page.context().close();
});

test('an id is proposed from the name, and a new destination says that it receives nothing', async () => {
  const { page, complaints } = await browser.open(`${url}#/destinations/+new`, { token: adminToken });
  const name = page.getByLabel('Name', { exact: true });
  const id = page.getByLabel('Id', { exact: true });
  await name.fill('Café orders');
  await eventually(
    () => id.inputValue(),
    (proposed) => proposed === 'cafe-orders',
  );
  await id.fill('orders');
  await name.fill('Orders of the café');
  assert.equal(await id.inputValue(), 'orders', 'what was typed stays');
  await page.getByLabel('URL 1', { exact: true }).fill('https://orders.example.com/hook');
  await press(page, 'Create a destination');
  await page.getByRole('heading', { level: 1, name: 'Orders of the café' }).waitFor();
  await page.getByText('It receives no events until you enable it').waitFor();
  await press(page, 'Enable');
  await page.getByText('It receives no events until you enable it').waitFor({ state: 'detached' });

  await visit(page, '#/sources/+new', 'Create a source');
  await name.fill('Café');
  await press(page, 'Create a source');
  await page.getByRole('heading', { level: 1, name: 'Café' }).waitFor();
  await control.expect(200, { path: '/v1/sources/cafe' });
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a destination says when it will be disabled and why it was, and offers what it missed once it is enabled', async () => {
  await createDestination('legacy');
  const path = '/v1/destinations/legacy';
  const { etag } = await control.ask({ method: 'PATCH', path, body: { disableAfter: '3d' } });
  const [since, until] = [Date.now() - 72 * 3_600_000, Date.now() - 1_000];
  const flow = createFlow(control.kafka);
  const startedAt = new Date(until).toISOString();
  await flow.attempt(flow.delivery('legacy'), 'retry', { startedAt, latencyMs: 0, reason: 'timeout' });
  await control.historyRead();
  const publisher = control.kafka.publisher();
  const outage = { version: Number(etag.replaceAll('"', '')), since, until, reason: 'timeout' };
  const put = (changes: { state: 'warned'; warnedAt: number } | { state: 'disabled' }) =>
    publisher.publish(encodeOutage(names.destinationsHealth, 'legacy', { ...outage, ...changes }));
  await put({ state: 'warned', warnedAt: until });
  const { page, complaints } = await browser.open(url, { token: adminToken, isBlank: true });
  await page.route('**/v1/destinations/legacy/health', async (route) => {
    // What can be shown without it has been painted.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await route.fallback();
  });
  const visitor = await createVisitor(page, url);
  await visitor.visit({ name: 'legacy', hash: '#/destinations/legacy', heading: 'legacy' });
  await page.getByText('This destination will be disabled').waitFor();
  await page.getByText(/It is disabled in 24 h unless one succeeds/).waitFor();
  assert.equal(await visitor.shift(), 0, 'nothing moves');

  await control.expect(200, { method: 'PATCH', path, body: { enabled: false } });
  await put({ state: 'disabled' });
  await visit(page, '#/destinations', 'Destinations');
  await visit(page, '#/destinations/legacy', 'legacy');
  await page.getByText('because all attempts had failed since').waitFor();
  await press(page, 'Enable');
  await page.getByText('Send what it missed?').waitFor();
  assert.deepEqual(await axeProblems(page), []);
  await page.getByRole('link', { name: 'Send missed events' }).click();
  const from = page.getByLabel('Since', { exact: true });
  await from.waitFor();
  const inBerlin = new Date(since - 4 * 3_600_000).toLocaleString('sv-SE', { timeZone: 'Europe/Berlin' });
  assert.equal(await from.inputValue(), inBerlin.slice(0, 16).replace(' ', 'T'));
  assert.equal(await page.getByLabel('Destination', { exact: true }).inputValue(), 'legacy');
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('the type of a destination is chosen where there are several', async () => {
  const { page } = await browser.open(url, { token: adminToken });
  const webhooks = { name: 'Webhooks', description: 'Signed requests', supportedCalls: ['track'] };
  const items = [
    { ...webhooks, type: 'Webhooks' },
    { ...webhooks, type: 'Other', name: 'Another' },
  ];
  await page.route('**/v1/catalog', (route) => route.fulfill({ json: { items } }));
  await visit(page, '#/destinations/+new', 'Create a destination');
  await page.getByText('Choose a type').waitFor();
  await page.getByRole('link', { name: 'Continue' }).first().click();
  await page.getByText('Type: Webhooks').waitFor();
  await page.context().close();
});

test('a notification is created, tested, changed without its secret being shown, and deleted', async () => {
  const { page, complaints } = await browser.open(`${url}#/notifications`, { token: adminToken });
  await page.getByRole('link', { name: 'Create a notification' }).click();
  await page.getByLabel('Name', { exact: true }).fill('On call');
  await page.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/services/s3cret-token');
  await page.getByLabel('A source receives no calls').uncheck();
  await press(page, 'Create a notification');
  await page.getByRole('heading', { level: 1, name: 'On call' }).waitFor();
  const shown = page.getByLabel('URL', { exact: true });
  assert.equal(await shown.inputValue(), 'http://127.0.0.1:9/********');
  await press(page, 'Send a test');
  await page.getByText('Test message not accepted: address-not-allowed').waitFor();
  await page.locator('.toast.bad').getByRole('button', { name: 'Close' }).click();
  await page.getByLabel('Enabled', { exact: true }).uncheck();
  await press(page, 'Save');
  await told(page, 'Saved.');
  const stored = await control.expect(200, { path: '/v1/notifications/on-call' });
  assert.deepEqual(
    [stored['enabled'], stored['events']],
    [false, ['destination.failing', 'deliveries.dead', 'destination.disabled']],
  );
  await visit(page, '#/notifications', 'Notifications');
  await page.getByRole('button', { name: 'Send a test of on-call' }).waitFor();
  assert.deepEqual(await axeProblems(page), []);
  await visit(page, '#/notifications/on-call', 'On call');
  assert.deepEqual(await axeProblems(page), []);
  await press(page, 'Delete notification');
  await confirm(page, 'Delete notification');
  await page.getByText('No notifications yet').waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a deleted entry is back after Undo, except one whose secret the API does not show', async () => {
  const { page, complaints } = await browser.open(url, { token: adminToken });
  const remove = async (path: string, heading: string, kind: string): Promise<string> => {
    await visit(page, `#/${path}?tab=settings`, heading);
    await press(page, `Delete ${kind}`);
    const question = await page.getByRole('dialog').innerText();
    await confirm(page, `Delete ${kind}`);
    await told(page, `${kind} deleted.`);
    await eventually(async () => (await control.ask({ path: `/v1/${path}` })).status === 404);
    return question;
  };
  await createSource('gone', 'Gone');
  await control.expect(200, { method: 'PUT', path: '/v1/sources/gone/blocked-events/Noise' });
  await createDestination('back');
  for (const [path, heading, kind] of [
    ['sources/gone', 'Gone', 'source'],
    ['destinations/back', 'back', 'destination'],
  ] as const) {
    const before = await control.expect(200, { path: `/v1/${path}` });
    assert.doesNotMatch(await remove(path, heading, kind), /cannot be undone/);
    await press(page, 'Undo');
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    assert.deepEqual(await control.expect(200, { path: `/v1/${path}` }), before);
    await told(page, `${kind} restored.`);
  }
  const settings = { sharedSecret: 's3cret' };
  await control.expect(200, { method: 'PATCH', path: '/v1/destinations/back', body: { settings } });
  assert.match(await remove('destinations/back', 'back', 'destination'), /cannot be undone/);
  assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('two people who change one destination choose between their values', async () => {
  await createDestination('shared');
  const one = await browser.open(url, { token: adminToken });
  await visit(one.page, '#/destinations/shared?tab=settings', 'shared');
  await one.page.getByLabel('Max requests per second').fill('10');
  await one.page.getByLabel('Name', { exact: true }).fill('Mine');
  const theirs = { rateLimit: 20, ordering: 'user' };
  await control.expect(200, { method: 'PATCH', path: '/v1/destinations/shared', body: theirs });
  await press(one.page, 'Save');
  await one.page.getByRole('heading', { name: 'Someone else changed this destination' }).waitFor();
  assert.deepEqual(await axeProblems(one.page), []);
  await one.page.getByRole('radio', { name: /Theirs/ }).check();
  await press(one.page, 'Save selected values');
  await one.page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
  const { name, rateLimit, ordering } = await control.expect(200, { path: '/v1/destinations/shared' });
  assert.deepEqual({ name, rateLimit, ordering }, { name: 'Mine', ...theirs });
  assert.deepEqual(
    one.complaints.filter((complaint) => !complaint.includes('status of 412')),
    [],
  );
  await one.page.context().close();
});

test('a source and a destination are found among more than a page lists', async () => {
  await using large = await openApi();
  for (let n = 0; n < 150; n += 1) {
    await large.expect(201, { method: 'POST', path: '/v1/sources', body: { id: `app-${n}` } });
  }
  for (const [id, source] of [
    ['crm', 'app-1'],
    ['erp', 'app-99'],
  ]) {
    const settings = { webhooks: [{ url: 'https://crm.example.com/hook' }] };
    const body = { id, type: 'Webhooks', sources: [source], settings };
    await large.expect(201, { method: 'POST', path: '/v1/destinations', body });
  }
  const own = `${await large.listen()}/`;
  const { page, complaints } = await browser.open(own, { token: adminToken });
  await visit(page, '#/destinations', 'Destinations');
  await page.getByRole('row', { name: /^crm/ }).waitFor();
  await page.getByLabel('Find a destination').fill('ER');
  await page.getByRole('row', { name: /^crm/ }).waitFor({ state: 'detached' });
  await page.getByRole('row', { name: /^erp/ }).waitFor();
  await page.waitForURL(/search=ER$/);
  await page.getByLabel('Find a destination').fill('none');
  await page.getByText('No destinations match this id or name').waitFor();

  await visit(page, '#/sources/app-99', 'app-99');
  await page.getByRole('link', { name: 'erp', exact: true }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'crm', exact: true }).count(), 0);

  await visit(page, '#/destinations/crm?tab=settings', 'crm');
  assert.equal(await page.getByLabel('app-99', { exact: true }).count(), 0);
  await page.getByLabel('Find a source').fill('p-99');
  await page.getByLabel('app-99', { exact: true }).check();
  await press(page, 'Save');
  await told(page, 'Saved.');
  const { sources } = await large.expect(200, { path: '/v1/destinations/crm' });
  assert.deepEqual(sources, ['app-1', 'app-99']);
  const before = page.getByRole('link', { name: 'Send the last 7 days' });
  assert.match((await before.getAttribute('href')) ?? '', /destination=crm&source=app-99&since=7d$/);

  await visit(page, '#/audiences', 'Audiences');
  assert.equal(await page.getByLabel('Source', { exact: true }).inputValue(), '', 'none is chosen yet');
  await page.getByLabel('Find a source').fill('p-99');
  await page
    .getByLabel('Source', { exact: true })
    .getByRole('option', { name: 'app-99' })
    .waitFor({ state: 'attached' });
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('an event is blocked and unblocked, also one with a hostile name', async () => {
  await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'noisy' } });
  const { page, complaints } = await browser.open(`${url}#/sources/noisy?tab=events`, { token: adminToken });
  await visit(page, '#/sources/noisy?tab=events', 'noisy');
  await page.getByLabel('Event', { exact: true }).fill(hostile);
  await press(page, 'Block');
  await confirm(page, 'Cancel');
  // What was typed is still there.
  await press(page, 'Block');
  await confirm(page, 'Block');
  await page.getByRole('button', { name: `Unblock ${hostile}` }).waitFor();
  const { schema } = (await control.expect(200, { path: '/v1/sources/noisy' })) as {
    schema: { track: { blocked: string[] } };
  };
  assert.deepEqual(schema.track.blocked, [hostile]);
  assert.equal(await page.locator('main script, main img').count(), 0);
  await page.getByRole('button', { name: `Unblock ${hostile}` }).click();
  await page.getByText('No events yet').waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('an act that loses events asks, says what is lost, and is undone', async () => {
  await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'kept' } });
  await createDestination('kept');
  await control.expect(200, { method: 'PUT', path: '/v1/destinations/kept/sources/kept' });
  const { page, complaints } = await browser.open(url, { token: adminToken });
  /** Answers the question, which says what is lost, and takes the act back. */
  const undo = async (action: string): Promise<void> => {
    await page.getByRole('dialog').getByText('never delivered').waitFor();
    await confirm(page, action);
    await press(page, 'Undo');
  };
  const storedSource = () => control.expect(200, { path: '/v1/sources/kept' });
  const storedDestination = () => control.expect(200, { path: '/v1/destinations/kept' });

  await visit(page, '#/sources/kept?tab=events', 'kept');
  await page.getByLabel('Event', { exact: true }).fill('Noise');
  await press(page, 'Block');
  await undo('Block');
  await told(page, 'Event unblocked.');
  await page.getByText('No events yet').waitFor();

  await visit(page, '#/sources/kept?tab=settings', 'kept');
  await page.getByLabel('Enabled').uncheck();
  await press(page, 'Save');
  await undo('Disable');
  await told(page, 'Undone.');
  assert.equal((await storedSource())['enabled'], true);
  assert.ok(await page.getByLabel('Enabled').isChecked());

  const { writeKeys } = (await storedSource()) as { writeKeys: [string] };
  await press(page, 'Add a write key');
  await press(page, 'Done');
  await page.getByRole('button', { name: `Remove ${writeKeys[0]}` }).click();
  await undo('Remove');
  await told(page, 'Write key restored.');
  assert.ok(((await storedSource()) as { writeKeys: string[] }).writeKeys.includes(writeKeys[0]));

  await visit(page, '#/destinations/kept', 'kept');
  await press(page, 'Disable');
  await undo('Disable');
  await told(page, 'Enabled. Events that arrived');
  assert.equal((await storedDestination())['enabled'], true);

  await visit(page, '#/destinations/kept?tab=settings', 'kept');
  await page.getByRole('checkbox', { name: 'kept', exact: true }).uncheck();
  await press(page, 'Save');
  await undo('Disconnect');
  await told(page, 'Undone.');
  assert.deepEqual((await storedDestination())['sources'], ['kept']);

  await page.getByText('Sample', { exact: true }).click();
  await page.getByLabel('Percent').fill('50');
  await press(page, 'Save');
  await press(page, 'Undo');
  await eventually(async () => (await storedDestination())['sample'] === undefined);

  await visit(page, '#/destinations/kept?tab=filter', 'kept');
  await page.getByLabel('Only these events').fill('Order *');
  await press(page, 'Save filter');
  await press(page, 'Undo');
  await page.getByRole('button', { name: 'Remove filter' }).waitFor({ state: 'detached' });
  assert.equal((await storedDestination())['filter'], undefined);

  await visit(page, '#/suppressions', 'Suppressions');
  await page.getByLabel('User ids').fill('u-kept');
  await press(page, 'Suppress users');
  await undo('Suppress users');
  await told(page, 'no longer suppressed');
  await control.refused({ path: '/v1/suppressions/u-kept' }, 404, 'not-found');
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a user is deleted once, also after a lost answer, and suppressed', async () => {
  const { page, complaints } = await browser.open(`${url}#/deletions`, { token: adminToken });
  await visit(page, '#/deletions', 'Deletions');
  await page.getByLabel('User ids').fill('u-deleted');
  const loseAnswer = async (route: Route): Promise<void> => {
    await route.fetch();
    await route.abort();
  };
  await page.route('**/v1/deletions', loseAnswer, { times: 1 });
  await press(page, 'Delete users');
  await confirm(page, 'Delete users');
  await page.getByRole('alert').getByText('The server is not responding.').waitFor();
  await press(page, 'Delete users');
  await confirm(page, 'Delete users');
  await page.getByRole('button', { name: 'Lift deletion' }).waitFor();
  const { items } = await control.expect(200, { path: '/v1/deletions' });
  assert.equal((items as unknown[]).length, 1);
  await visit(page, '#/suppressions', 'Suppressions');
  await page.getByLabel('User ids').fill('u-deleted');
  await press(page, 'Suppress users');
  await confirm(page, 'Suppress users');
  await page.getByRole('button', { name: 'Remove u-deleted' }).waitFor();
  await control.expect(200, { path: '/v1/suppressions/u-deleted' });
  assert.deepEqual(complaints, ['Failed to load resource: net::ERR_FAILED']);
  await page.context().close();
});

test('a token is made and shown once, and the audit log names it', async () => {
  const { page, complaints } = await browser.open(`${url}#/tokens`, { token: adminToken });
  await visit(page, '#/tokens', 'Tokens');
  await press(page, 'Create a token');
  await page.getByLabel('Name', { exact: true }).fill('Grafana');
  await page
    .getByRole('group', { name: 'Only these destinations' })
    .getByLabel('crm', { exact: true })
    .check();
  await page.getByLabel('Expires', { exact: true }).selectOption('in 30 days');
  await press(page, 'Create');
  const secret = await page.getByLabel('New token').locator('visible=true').last().innerText();
  await press(page, 'Done');
  const { destinations, expiresAt } = await control.expect(200, {
    path: '/v1/session',
    token: secret.trim(),
  });
  assert.deepEqual(destinations, ['crm']);
  const days = (Date.parse(String(expiresAt)) - Date.now()) / 86_400_000;
  assert.ok(days > 29 && days <= 30, `it expires in ${days} days`);
  await page.getByRole('button', { name: 'Revoke Grafana' }).waitFor();
  await visit(page, '#/audit?action=token.create', 'Audit');
  await page.getByRole('cell').getByText('token.create').first().waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});

/** With the rights of the token `read`: the heading of each page, none of which has a button that changes something. */
const readable: readonly (readonly [place: string, heading: string])[] = [
  ['#/sources', 'Sources'],
  ['#/sources/web', 'Web site'],
  ['#/sources/web?tab=events', 'Web site'],
  ['#/destinations', 'Destinations'],
  ['#/destinations/crm', 'crm'],
  ['#/destinations/crm?tab=failures', 'crm'],
  ['#/destinations/crm?tab=settings', 'crm'],
  ['#/deletions', 'Deletions'],
  ['#/suppressions', 'Suppressions'],
  ['#/audiences/web', 'Audiences'],
];
const changing =
  /^(Create|Connect a|Add|Remove|Delete|Rotate|Enable|Disable|Pause(?! live)|Resume|Block|Unblock|Save|Send|Suppress|Upload|Revoke|Lift|Retry all|Drain)/;

test('a session that may only read has no button that changes something, and is refused by the API', async () => {
  const { page, complaints } = await browser.open(url, { token: readToken });
  await page.getByRole('link', { name: 'Sources', exact: true }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Tokens' }).count(), 0);
  for (const [place, heading] of readable) {
    await visit(page, place, heading);
    for (const role of ['button', 'link'] as const) {
      const found = page.getByRole('main').getByRole(role, { name: changing });
      assert.equal(await found.count(), 0, `${place}: ${(await found.allInnerTexts()).join()}`);
    }
  }
  const status = await page.evaluate(async () => {
    const headers = { 'X-Tailrace-Console': '1', 'Content-Type': 'application/json' };
    const answer = await fetch('v1/destinations/crm', {
      method: 'PATCH',
      headers,
      body: '{"enabled":false}',
    });
    return answer.status;
  });
  assert.equal(status, 403);
  assert.deepEqual(
    complaints.filter((complaint) => !complaint.includes('status of 403')),
    [],
  );
  await page.context().close();
});

test('a token that is limited to a source and a destination is asked for no numbers that it may not have', async () => {
  // One of its sources is not among those of the token.
  await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'elsewhere' } });
  for (const id of ['web', 'elsewhere']) {
    await control.expect(200, { method: 'PUT', path: `/v1/destinations/crm/sources/${id}` });
  }
  const created = await control.expect(201, {
    method: 'POST',
    path: '/v1/tokens',
    body: { name: 'partner', scope: 'write', sources: ['web'], destinations: ['crm'] },
  });
  const { page, complaints } = await browser.open(url, { token: String(created['token']) });
  await visit(page, '#/sources/web', 'Web site');
  await visit(page, '#/destinations/crm', 'crm');
  assert.equal(await page.getByRole('link', { name: 'Failures' }).count(), 0);
  await page.getByRole('link', { name: 'Test', exact: true }).click();
  await press(page, 'Use a recent event');
  await page.getByText('No recent events').waitFor();
  await press(page, 'Cancel');
  await visit(page, '#/destinations/crm', 'crm');
  await page.getByRole('link', { name: 'View deliveries' }).click();
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor();
  await settled(page);
  await page.waitForURL(/destination=crm/);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

const places: readonly (readonly [place: string, heading: string])[] = [
  ...readable,
  ['#/sources/+new', 'Create a source'],
  ['#/sources/web?tab=usage', 'Web site'],
  ['#/sources/web?tab=settings', 'Web site'],
  ['#/destinations/+new', 'Create a destination'],
  ['#/destinations/crm?tab=test', 'crm'],
  ['#/destinations/crm?tab=filter', 'crm'],
  ['#/tokens', 'Tokens'],
  ['#/audit', 'Audit'],
];

test('axe finds nothing, in both themes, and no page is wider than the narrowest phone', async () => {
  const { page, complaints } = await browser.open(url, { token: adminToken });
  await page.setViewportSize(narrowest);
  for (const [place, heading] of places) {
    await visit(page, place, heading);
    assert.deepEqual(await axeProblemsInBothThemes(page), [], place);
    const excess = await excessWidth(page);
    assert.ok(excess <= 0, `${place} is ${excess} px wider than its window`);
  }
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('Why, Filtered and a delivery say what a transform has done', async () => {
  const flow = createFlow(control.kafka);
  const delivery = flow.delivery('crm');
  const { eventId, deliveryId } = delivery;
  const lastAnswer = 'transform of version 3: TypeError: not a function (line 7)';
  const failed = { ...delivery, reason: 'transform-failed', lastAnswer };
  await flow.publish(names.deliveriesDead, failed);
  const rule = { path: 'transform', text: 'version 3' };
  await flow.decision(eventId, [{ reason: 'transform', rule, destinations: [{ id: 'erp' }] }]);
  await control.historyRead();
  const { page, complaints } = await browser.open(url, { token: adminToken });
  await visit(page, `#/why/${eventId}`, 'Why');
  await page.getByText(lastAnswer).waitFor();
  await page.getByText('The transform returned null').waitFor();
  await page.getByText('version 3', { exact: true }).waitFor();
  await visit(page, `#/deliveries/${deliveryId}`, 'Order Completed');
  await page.getByText(lastAnswer).waitFor();
  await visit(page, '#/filtered?reason=transform', 'Filtered');
  await page.getByRole('listbox', { name: 'Filtered events' }).getByText('version 3').waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});
