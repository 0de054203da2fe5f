/** A list of users is uploaded through the real file field of a browser. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { adminToken, names } from '../../services/control/src/testing/api.ts';
import { eventually } from '@tailrace/testing';
import { told, visit } from '../support/console/browser.ts';
import { openConsole } from '../support/console/console.ts';

const started = new AsyncDisposableStack();
after(() => started.disposeAsync());
const { browser, control, url } = started.use(
  await openConsole(undefined, { TAILRACE_AUDIENCE_RATE: '100000' }),
);
await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'app' } });
const settings = { webhooks: [{ url: 'https://crm.example.com/hook' }] };
const body = { id: 'crm', type: 'Webhooks', enabled: true, sources: ['app'], settings };
await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
const { page, complaints } = await browser.open(url, { token: adminToken });

async function upload(
  audience: string,
  name: string,
  content: string,
  mimeType = 'text/csv',
  kind: 'whole' | 'changes' = 'whole',
): Promise<void> {
  await visit(page, '#/audiences/app', 'Audiences');
  await page.getByLabel('Name of the audience').fill(audience);
  // As bytes: one case is not UTF-8.
  const buffer = Buffer.from(content, 'latin1');
  await page.getByLabel('File', { exact: true }).setInputFiles({ name, mimeType, buffer });
  await page.getByLabel('The file has').selectOption(kind);
  await page.getByRole('button', { name: 'Upload a list' }).click();
}

test('100,000 members are uploaded, and their changes are followed to the end', async () => {
  const { cluster } = control;
  // Kafka stops to acknowledge until the progress is seen.
  const paused = cluster
    .until(() => cluster.records(names.events).length > 0)
    .then(() => {
      cluster.pauseAcknowledgements();
    });
  const members = Array.from({ length: 100_000 }, (_, index) => `user-${index}`);
  await upload('Everybody', 'everybody.csv', `userId\n${members.join('\n')}\n`);
  const preview = page.getByRole('dialog');
  await preview.getByText('Join: 100,000').waitFor();
  await preview.getByText('Leave: 0').waitFor();
  await preview.getByRole('button', { name: 'Replace members' }).click();
  await told(page, 'List received.');
  const row = page.getByRole('row', { name: /Everybody/ });
  await row.getByRole('progressbar').waitFor();
  await row.getByText(/of 100,000 changes sent/).waitFor();
  await paused;
  cluster.resumeAcknowledgements();
  await row.getByText('done', { exact: true }).waitFor();
  await row.getByRole('cell', { name: '100,000 CSV' }).waitFor();
  assert.deepEqual(complaints, []);
});

test('a preview shows who joins and leaves, and nothing changes where it is not confirmed', async () => {
  const members = Array.from({ length: 99_999 }, (_, index) => `user-${index}`);
  await upload('Everybody', 'everybody.csv', `userId\n${members.join('\n')}\nada\n`);
  const preview = page.getByRole('dialog');
  await preview.getByText(/Join: 1\s+\W*ada/).waitFor();
  await preview.getByText(/Leave: 1\s+\W*user-99999/).waitFor();
  await preview.getByRole('button', { name: 'Cancel' }).click();
  await preview.waitFor({ state: 'detached' });
  const { sync } = await control.expect(200, { path: '/v1/sources/app/audiences/Everybody' });
  assert.equal((sync as { total: number }).total, 100_000);
});

test('an upload shows how much was sent, and is cancelled without a change', async () => {
  const size = 2_000_000;
  const content = 'userId\n'.padEnd(size - 1, 'ada\n') + '\n';
  const network = await page.context().newCDPSession(page);
  const atMost = (uploadThroughput: number) =>
    network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput,
    });
  await atMost(10_000);
  await upload('Slow', 'slow.csv', content);
  const progress = page.getByRole('progressbar', { name: 'Upload progress' });
  await eventually(
    () => progress.evaluate((bar: { readonly value: number }) => bar.value),
    (sent) => sent > 0 && sent < size,
  );
  await page.getByText(/^\d+\.\d % · [\d.]+ \S+ of 2\.0 MB sent$/).waitFor();
  await page.getByRole('button', { name: 'Cancel the upload' }).click();
  await told(page, 'Upload canceled');
  await progress.waitFor({ state: 'detached' });
  await atMost(-1);
  await control.refused({ path: '/v1/sources/app/audiences/Slow' }, 404, 'not-found');
  assert.deepEqual(complaints, []);
});

const isDone = (sync: unknown): boolean => (sync as { state?: string } | undefined)?.state === 'done';

test('a file of changes is uploaded, and the members are sent to a destination that was connected later', async () => {
  await upload('Everybody', 'changes.csv', 'added,removed\nada,user-0\n', 'text/csv', 'changes');
  const preview = page.getByRole('dialog');
  await preview.getByText(/Join: 1\s+\W*ada/).waitFor();
  await preview.getByText(/Leave: 1\s+\W*user-0/).waitFor();
  await preview.getByRole('button', { name: 'Change members' }).click();
  const { sync } = await eventually(
    () => control.expect(200, { path: '/v1/sources/app/audiences/Everybody' }),
    ({ sync }) => (sync as { kind: string }).kind === 'change' && isDone(sync),
  );
  assert.equal((sync as { total: number }).total, 2);

  await upload('Few', 'few.csv', 'userId\nada\nbob\n');
  await preview.getByRole('button', { name: 'Replace members' }).click();
  await eventually(
    () => control.ask({ path: '/v1/sources/app/audiences/Few' }),
    ({ json }) => isDone(json['sync']),
  );
  await visit(page, '#/destinations/+new?source=app', 'Create a destination');
  await page.getByLabel('Name', { exact: true }).fill('Later');
  await page.getByLabel('URL 1', { exact: true }).fill('https://later.example.com/hook');
  await page.getByLabel('Enable immediately').check();
  await page.getByRole('button', { name: 'Create a destination' }).click();
  await page.getByText('Send what came before?').waitFor();
  await page.getByRole('link', { name: 'Send the last 7 days' }).waitFor();
  await page.getByRole('link', { name: /Send audiences of/ }).click();
  const row = page.getByRole('row', { name: /Few/ });
  await row.getByRole('button', { name: 'Send Few to a destination' }).click();
  assert.equal(await preview.getByLabel('Destination').inputValue(), 'later');
  await preview.getByText('for each of the 2 members').waitFor();
  await preview.getByRole('button', { name: 'Send members' }).click();
  await row.getByText('to later').waitFor();
  await row.getByText('done', { exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

/** Files that are not lists, with the reason that is shown. */
const wrong: readonly (readonly [name: string, content: string, mimeType: string, reason: RegExp])[] = [
  ['open-quote.csv', 'userId\nada\n"grace\n', 'text/csv', /line 3/i],
  ['no-column.csv', 'name,mail\nada,a@example.com\n', 'text/csv', /userId/],
  ['broken.ndjson', '{"userId":"ada"}\n{"userId":\n', 'application/x-ndjson', /line 2/i],
  ['long.csv', `userId\nada\n${'x'.repeat(2_000)}\n`, 'text/csv', /line 3/i],
  ['empty.csv', 'userId\n', 'text/csv', /empty|no member/i],
  ['picture.csv', '\u0089PNG\r\n\u001a\n\u00ff', 'text/csv', /line 1/i],
];

test('a file that is not a list is refused with the line and the rule, and changes nothing', async () => {
  for (const [name, content, mimeType, reason] of wrong) {
    await upload('Everybody', name, content, mimeType);
    const alert = page.getByRole('alert');
    await alert.waitFor().catch(() => assert.fail(`${name} is accepted`));
    assert.match(await alert.innerText(), reason, name);
    const { members } = await control.expect(200, { path: '/v1/sources/app/audiences/Everybody' });
    assert.equal(members, 100_000);
    await page.reload();
  }
});

test('a name that is no trait is refused at its field', async () => {
  await upload('!!!', 'a.csv', 'userId\nada\n');
  await page.locator('.problem', { hasText: 'letter or digit' }).waitFor();
});
