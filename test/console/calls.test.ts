/** The live calls of a source in a browser: what came in, and what became of it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { encodeDecision } from '@tailrace/records';
import { adminToken, names, readToken } from '../../services/control/src/testing/api.ts';
import { axeProblemsInBothThemes, excessWidth, narrowest, told, visit } from '../support/console/browser.ts';
import { openConsole } from '../support/console/console.ts';

const hostile = '<img src=x onerror="window.hacked=1">\u202e';
const started = new AsyncDisposableStack();
after(() => started.disposeAsync());
const { browser, control, url } = started.use(
  await openConsole(async (control) => {
    const body = { id: 'web', name: 'Website', writeKeys: ['wk_web1'] };
    await control.expect(201, { method: 'POST', path: '/v1/sources', body });
  }),
);
const publisher = control.kafka.publisher({});

/** Writes a call, and returns its offset. */
async function send(event: string, userId = 'ada'): Promise<number> {
  const offset = control.cluster.topic(names.events).partitions[0]?.high ?? 0;
  const at = '2026-11-21T09:43:25.118Z';
  const call = { type: 'track', messageId: `m-${offset}`, timestamp: at, receivedAt: at, userId, event };
  const headers = { 'source-id': 'web' };
  await publisher.publish({
    topic: names.events,
    partition: 0,
    key: userId,
    value: JSON.stringify(call),
    headers,
  });
  return offset;
}

test('calls are shown as they arrive, with their content, what became of them, and a command that sends them again', async () => {
  const { page, complaints } = await browser.open(url, { token: adminToken });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const watches = page.waitForResponse((answer) => answer.url().includes('/calls/stream'));
  await visit(page, '#/sources/web?tab=live', 'Website');
  await watches;
  await page.getByText('Waiting for the first event').waitFor();
  const offset = await send('Order Completed');
  const row = page.getByRole('log').getByRole('listitem').first();
  await row.getByText('accepted').waitFor();
  const rule = { path: 'condition.all[0]', text: 'properties.total atLeast 100' };
  const decided = {
    eventId: `m-${offset}`,
    sourceId: 'web',
    type: 'track',
    decidedAt: Date.now(),
    routed: 0,
  };
  const filtered = [{ reason: 'filter', rule, destinations: [{ id: 'crm' }] }];
  await publisher.publish(
    encodeDecision(names.decisions, 'ada', { ...decided, filtered }, { partition: 0, offset }),
  );
  await row.getByText('filtered').waitFor();
  await row.locator('summary').click();
  await row.getByText(rule.text).waitFor();
  assert.match(await row.getByLabel('Call').innerText(), /"messageId": "m-\d+"/);
  await row.getByRole('button', { name: 'Copy as curl' }).click();
  await told(page, 'Copied.');
  const command = await page.evaluate<string>('navigator.clipboard.readText()');
  assert.match(command, /^curl http:\S+\/v1\/track -u wk_web1:/);
  assert.match(command, /-d '\{"userId":"ada","event":"Order Completed"\}'$/);

  await send(hostile);
  await page.getByRole('log').getByText(hostile).waitFor();
  assert.equal(await page.locator('main img').count(), 0);
  assert.deepEqual(await axeProblemsInBothThemes(page), []);
  await page.setViewportSize(narrowest);
  const excess = await excessWidth(page);
  assert.ok(excess <= 0, `the page is ${excess} px wider than its window`);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('the list is paused, and has the calls of one user, also from a saved view', async () => {
  const { page, complaints } = await browser.open(`${url}#/sources/web?tab=live`, { token: adminToken });
  const log = page.getByRole('log');
  const watches = () => page.waitForResponse((answer) => answer.url().includes('/calls/stream'));
  await log.getByText('Waiting for the first event').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await log.getByText('Paused').waitFor();
  await send('Missed');
  const again = watches();
  await page.getByRole('button', { name: 'Resume' }).click();
  await again;
  await send('Seen');
  await log.getByText('Seen').waitFor();
  assert.equal(await log.getByText('Missed').count(), 0);
  await page.getByLabel('User id').fill('ben');
  const filtered = watches();
  await page.getByRole('button', { name: 'Search' }).click();
  await filtered;
  await send('Of another', 'ada');
  await send('Of ben', 'ben');
  await log.getByText('Of ben').waitFor();
  assert.equal(await log.getByRole('listitem').count(), 1);
  await page.getByRole('button', { name: 'Save this view' }).click();
  await page.getByLabel('Name of the view').fill('Ben');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await visit(page, '#/sources/web?tab=live', 'Website');
  await page.getByRole('link', { name: 'Ben' }).click();
  await page.waitForURL(/#\/sources\/web\?tab=live&user=ben$/);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a read-only user sees masked content, and no command with a write key', async () => {
  const { page } = await browser.open(url, { token: readToken });
  const watches = page.waitForResponse((answer) => answer.url().includes('/calls/stream'));
  await visit(page, '#/sources/web?tab=live', 'Website');
  await watches;
  await send('Order Completed');
  const row = page.getByRole('log').getByRole('listitem').first();
  await row.locator('summary').click();
  const content = await row.getByLabel('Call').innerText();
  assert.ok(content.includes('"event": "Order Completed"') && content.includes('"userId": "***"'), content);
  assert.equal(await page.getByRole('button', { name: 'Copy as curl' }).count(), 0);
  await page.context().close();
});
