/**
 * The console on all services, a receiver, and Chromium: from the first visit to the first delivered event, and from a receiver that fails to
 * the replay of its dead letters.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { verifySignature } from '@tailrace/signing';
import type { Page } from 'playwright-core';
import { adminToken } from '../../services/control/src/testing/api.ts';
import { axeProblems, openBrowser, told, visit } from '../support/console/browser.ts';
import { eventually } from '@tailrace/testing';
import { budgets, startWalk } from '../support/console/walk.ts';
import { startInstallation } from '../support/processes/installation.ts';
import { status } from '../support/receivers/answers.ts';
import { startReceiver, type ReceivedRequest } from '../support/receivers/receiver.ts';

const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>';

const started = new AsyncDisposableStack();
after(() => started.disposeAsync());
// First: it builds the console where it is older than its sources, and control reads it at its start.
const browser = started.use(await openBrowser());
/** Refused while the receiver does not accept it. An event of the test before may still be on its way, and is no dead letter. */
const refusable = 'Order Refused';
let isAccepting = true;
const receiver = started.use(
  await startReceiver({
    answer: (request) =>
      status(isAccepting || eventOf(request) !== refusable ? 200 : 400, { 'x-answer': hostile }, hostile),
  }),
);
const installation = started.use(await startInstallation({ cluster: new MemoryCluster() }));
const { controlUrl } = installation;

function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click();
}

function eventOf({ json }: ReceivedRequest): unknown {
  return (json() as { readonly event?: unknown }).event;
}

/** Runs the command as a reader does who pastes it into a shell, until ingest accepts the call. */
async function runUntilAccepted(command: string): Promise<void> {
  await eventually(
    () => promisify(execFile)('sh', ['-c', command], { env: { PATH: process.env['PATH'] } }),
    ({ stdout }) => stdout === '{"success":true}',
  );
}

let command = '';

test('an empty installation delivers its first event after six clicks and two fields', async () => {
  const { page, complaints } = await browser.open(`${controlUrl}/`, { token: adminToken });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const walk = await startWalk(page);
  await page.getByRole('link', { name: 'Create a source' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Walked');
  await press(page, 'Create a source');
  await page.getByRole('heading', { level: 1, name: 'Walked' }).waitFor();
  await press(page, 'Copy');
  await told(page, 'Copied.');
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  await page.getByRole('link', { name: 'Connect a destination' }).click();
  await page.getByLabel('URL 1', { exact: true }).fill(`${receiver.url}/hook`);
  await page.getByLabel('Enable immediately').check();
  await press(page, 'Create a destination');
  await page.getByRole('button', { name: 'Disable' }).waitFor();
  await eventually(
    async () => {
      await runUntilAccepted(copied);
      return receiver.requests.length;
    },
    (received) => received > 0,
  );
  const delivered = page.locator('.totals > div').filter({ hasText: 'Delivered' });
  await delivered.getByText(/^[1-9]/).waitFor();
  await walk.endsWithin(budgets.firstDelivery);
  assert.deepEqual(complaints, []);
  const [, destination = ''] = /destinations\/([^?]+)/.exec(page.url()) ?? [];
  await page.context().close();
  for (const path of [`destinations/${destination}`, 'sources/walked']) {
    const headers = { authorization: `Bearer ${adminToken}` };
    const { status } = await fetch(`${controlUrl}/v1/${path}`, { method: 'DELETE', headers });
    assert.equal(status, 204, path);
  }
});

test('from the first visit to the first delivered event', async () => {
  const { page, complaints } = await browser.open(`${controlUrl}/`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByLabel('Token').fill(adminToken);
  await press(page, 'Sign in');
  await page.getByRole('link', { name: 'Sources', exact: true }).click();
  await page.getByText('No sources yet').waitFor();
  await page.getByRole('link', { name: 'Create a source' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('Web site');
  await page.getByLabel('Id', { exact: true }).fill('web');
  const watches = page.waitForResponse((answer) => answer.url().includes('/calls/stream'));
  await press(page, 'Create a source');
  await page.getByRole('heading', { level: 1, name: 'Web site' }).waitFor();
  await press(page, 'Copy');
  await told(page, 'Copied.');
  command = await page.evaluate<string>('navigator.clipboard.readText()');
  await watches;
  await page.getByText('Waiting for the first event').waitFor();
  await runUntilAccepted(command);
  const log = page.getByRole('log');
  await log.getByText('Order Completed').first().waitFor();
  await log.getByText('no destination').first().waitFor();

  await page.getByRole('link', { name: 'Connect a destination' }).click();
  await page.getByLabel('Id', { exact: true }).fill('crm');
  assert.ok(await page.getByLabel('web', { exact: true }).isChecked(), 'the source is connected');
  await page.getByLabel('URL 1', { exact: true }).fill('not a url');
  await press(page, 'Create a destination');
  await page.locator('.problem', { hasText: 'contains a space' }).waitFor();
  await page.getByLabel('URL 1', { exact: true }).fill(`${receiver.url}/hook`);
  await press(page, 'Generate');
  const secret = await page.getByLabel('New secret').locator('visible=true').last().innerText();
  await press(page, 'Done');
  await press(page, 'Create a destination');
  await page.getByRole('heading', { level: 1, name: 'crm' }).waitFor();

  const earlier = receiver.requests.length;
  await press(page, 'Send');
  await page.getByText('accepted').waitFor();
  await receiver.waitFor(() => receiver.requests.length > earlier);
  const tried = receiver.requests[earlier];
  assert.ok(tried && verifySignature(secret, tried.body, tried.headers['x-signature'] ?? ''));
  assert.equal(await page.locator('main script, main img').count(), 0, 'an answer stays text');
  await page.getByText(hostile).first().waitFor();
  await press(page, 'Enable');
  await page.getByRole('button', { name: 'Disable' }).waitFor();

  const follows = page.waitForResponse((answer) => answer.url().includes('/calls/stream'));
  await visit(page, '#/sources/web', 'Web site');
  await follows;
  await page.getByText('Waiting for the first event').waitFor();
  const before = receiver.requests.length;
  // Events of the first moments are not delivered: the router knows of the destination within two seconds.
  await eventually(
    async () => {
      await runUntilAccepted(command);
      await runUntilAccepted(command.replace('Order Completed', hostile));
      return receiver.requests.slice(before).map(eventOf);
    },
    (received) => received.includes('Order Completed') && received.includes(hostile),
  );
  for (const { body, headers } of receiver.requests.slice(before)) {
    assert.ok(verifySignature(secret, body, headers['x-signature'] ?? ''));
  }

  await log.getByText(hostile).first().waitFor();
  assert.equal(await page.locator('main script, main img').count(), 0, 'the name of an event stays text');
  const row = log
    .getByRole('listitem')
    .filter({ hasText: 'routed' })
    .filter({ hasText: 'Order Completed' })
    .first();
  await row.locator('summary').click();
  // Calls that are routed meanwhile come before it.
  await log.locator('details[open]').getByRole('link', { name: 'Why' }).click();
  const picture = page.getByRole('figure', { name: 'Event flow' });
  await picture.getByRole('link', { name: 'crm' }).waitFor();
  await picture.getByText('delivered', { exact: true }).waitFor();
  assert.deepEqual(
    complaints.filter((complaint) => !complaint.includes('status of 400')),
    [],
  );
  await page.context().close();
});

test('a failing receiver is found and understood in three clicks, and its dead letter is replayed', async () => {
  isAccepting = false;
  const before = receiver.requests.length;
  await runUntilAccepted(command.replace('Order Completed', refusable));
  const refused = (): ReceivedRequest[] =>
    receiver.requests.slice(before).filter((request) => eventOf(request) === refusable);
  const headers = { authorization: `Bearer ${adminToken}` };
  await eventually(
    async () => {
      const answer = await fetch(`${controlUrl}/v1/dead-letters?destination=crm`, { headers });
      return (await answer.json()) as { readonly items: readonly unknown[] };
    },
    ({ items }) => items.length === 1,
  );
  assert.equal(refused().length, 1);

  const { page, complaints } = await browser.open(`${controlUrl}/`, { token: adminToken });
  const walk = await startWalk(page);
  await page.getByRole('link', { name: 'dead: The receiver rejected the event (4xx)' }).click();
  await page.getByRole('heading', { level: 1, name: 'Dead letters' }).waitFor();
  await page.getByRole('row', { name: /crm/ }).getByRole('link', { name: 'Deliveries' }).click();
  await page.getByRole('listbox', { name: 'Deliveries' }).getByRole('option').first().click();
  await page.getByText('Attempt 1', { exact: true }).waitFor();
  await page.getByText('400', { exact: true }).waitFor();
  await page.getByText(`${receiver.url}/hook`).waitFor();
  await page.getByLabel('Response body').getByText(hostile).waitFor();
  await walk.endsWithin(budgets.whyRefused);

  isAccepting = true;
  await visit(page, '#/replays', 'Dead letters');
  await page.getByRole('row', { name: /crm/ }).getByRole('button', { name: 'Replay' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1 dead letter will be sent again.').waitFor();
  assert.deepEqual(await axeProblems(page), []);
  await dialog.getByRole('button', { name: 'Start replay' }).click();
  await page
    .getByRole('row', { name: /1 of 1/ })
    .getByText('done')
    .waitFor();
  await receiver.waitFor(() => refused().length === 2);
  const [first, again] = refused();
  assert.ok(first && again?.body.equals(first.body));
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a receiver that has lost yesterday is sent everything again after four clicks, and Why shows both', async () => {
  isAccepting = true;
  const headers = { authorization: `Bearer ${adminToken}` };
  const ask = async (path: string) => (await fetch(`${controlUrl}/v1/${path}`, { headers })).json();
  const listed = (await ask('deliveries?destination=crm&event=Order%20Completed')) as {
    readonly items: readonly { readonly eventId: string }[];
  };
  const eventId = encodeURIComponent(listed.items[0]?.eventId ?? '');
  const { page, complaints } = await browser.open(controlUrl, { token: adminToken });
  const walk = await startWalk(page);
  await page.getByRole('link', { name: 'Destinations', exact: true }).click();
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'crm', exact: true }) });
  await row.getByRole('link', { name: 'Send past events' }).click();
  await press(page, 'All events');
  await page.getByText(/^[1-9]\d* events? will be sent/).waitFor();
  await press(page, 'Start replay');
  await page.getByRole('heading', { level: 1, name: 'Dead letters' }).waitFor();
  await walk.endsWithin(budgets.lostReceiver);

  await eventually(
    async () =>
      (await ask(`events/${eventId}`)) as { readonly deliveries: readonly { readonly status: string }[] },
    ({ deliveries }) => deliveries.length === 2 && deliveries.every(({ status }) => status === 'delivered'),
  );
  await visit(page, `#/why/${eventId}`, 'Why');
  const branches = page.getByRole('figure', { name: 'Event flow' }).getByRole('listitem');
  await branches.nth(1).getByText('Sent again').waitFor();
  assert.deepEqual([await branches.count(), await branches.getByText('Sent again').count()], [2, 1]);
  await branches.first().getByRole('link', { name: 'Send past events' }).click();
  await page.getByRole('heading', { level: 1, name: 'Send past events' }).waitFor();
  assert.equal(await page.getByLabel('Event', { exact: true }).inputValue(), 'Order Completed');
  await press(page, 'All events');
  await page.getByText(/^[1-9]\d* events? will be sent, in \S+ s or more\.$/).waitFor();
  await page.getByRole('group', { name: 'Events by day' }).getByText('Order Completed').first().waitFor();
  await page.getByText('The oldest event in Kafka is from').waitFor();
  assert.deepEqual(await axeProblems(page), []);
  assert.deepEqual(complaints, []);
  await page.context().close();
});
