import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { simulateTime } from '@tailrace/testing';
import type { Destination, Source } from '../rules/schema.ts';
import { openConfigEditor, type ConfigEditor, type ConfigSnapshot, type EditorOptions } from './editor.ts';

const topic = 'config';
const key = Buffer.alloc(32, 1);
const web: Source = { id: 'web', writeKeys: ['wk_web'], enabled: true };
const app: Source = { id: 'app', writeKeys: ['wk_app'], enabled: true };
const crm: Destination = {
  id: 'crm',
  type: 'Webhooks',
  enabled: true,
  sources: ['web'],
  settings: { sharedSecret: 's3cret', webhooks: [{ url: 'https://crm.example.com/' }] },
};

const putSource = (entry: Source) => () => ({
  writes: [{ kind: 'source' as const, id: entry.id, entry }],
  result: undefined,
});
const putDestination = (entry: Destination) => () => ({
  writes: [{ kind: 'destination' as const, id: entry.id, entry }],
  result: undefined,
});

function newCluster(): MemoryCluster {
  const cluster = new MemoryCluster();
  cluster.createTopic(topic);
  return cluster;
}

async function open(
  cluster: MemoryCluster,
  options: Partial<EditorOptions> = {},
): Promise<ConfigEditor & AsyncDisposable> {
  const kafka = cluster.connect();
  const log = { warn: () => undefined };
  const editor = await openConfigEditor(kafka, topic, log, {
    secretKeys: { current: key },
    withoutKey: 'refuse',
    ...options,
  });
  return Object.assign(editor, {
    async [Symbol.asyncDispose]() {
      cluster.start();
      await editor.close();
      await kafka.close();
    },
  });
}

test('a change is written in one transaction, and is in force when it resolves', async () => {
  const cluster = newCluster();
  await using editor = await open(cluster);
  const { result, version } = await editor.change(() => ({
    writes: [
      { kind: 'source', id: 'web', entry: web },
      { kind: 'destination', id: 'crm', entry: crm },
    ],
    result: 'created',
  }));
  assert.equal(result, 'created');
  assert.deepEqual([editor.source('web'), editor.destination('crm')], [web, crm]);
  assert.deepEqual([version('source', 'web'), version('destination', 'crm')], [1, 2]);
  assert.deepEqual([editor.version('source', 'web'), editor.version('destination', 'crm')], [1, 2]);
  assert.equal(version('source', 'other'), undefined);

  await editor.change(() => ({ writes: [{ kind: 'source', id: 'web', entry: null }], result: undefined }));
  assert.equal(editor.source('web'), undefined);
  assert.equal(cluster.records(topic).at(-1)?.value, null);
});

test('records of other topics are written in the transaction of the entries', async () => {
  const cluster = newCluster();
  cluster.createTopic('health', { config: { 'max.message.bytes': '100' } });
  await using editor = await open(cluster);
  const put = (value: string) =>
    editor.change(() => ({
      writes: [{ kind: 'source', id: 'web', entry: web }],
      also: [{ topic: 'health', partition: 0, key: 'outage/crm', value }],
      result: undefined,
    }));
  await assert.rejects(put('x'.repeat(200)), { code: 'record-too-large' });
  assert.equal(editor.source('web'), undefined);
  await put('{}');
  assert.deepEqual(
    [editor.source('web'), cluster.records('health').map(({ value }) => String(value))],
    [web, ['{}']],
  );
});

test('a decision without writes writes nothing', async () => {
  const cluster = newCluster();
  await using editor = await open(cluster);
  const { result, version } = await editor.change(() => ({ writes: [], result: 7 }));
  assert.deepEqual([result, version('source', 'web')], [7, undefined]);
  assert.deepEqual(cluster.records(topic), []);
});

test('an error of a decision ends the change, and later changes work', async () => {
  const cluster = newCluster();
  await using editor = await open(cluster);
  const refused = editor.change(() => {
    throw new TailraceError('precondition-failed');
  });
  await assert.rejects(refused, (error) => isTailraceError(error, 'precondition-failed'));
  assert.deepEqual(cluster.records(topic), []);
  await editor.change(putSource(web));
  assert.deepEqual(editor.sources(), [web]);
});

test('concurrent changes of two editors are each decided on the result of the one before', async () => {
  const cluster = newCluster();
  await using first = await open(cluster);
  await using second = await open(cluster);
  await first.change(putSource({ ...web, rateLimit: 1 }));
  const increment = (current: ConfigSnapshot) => {
    const source = current.source('web');
    assert.ok(source);
    const entry = { ...source, rateLimit: (source.rateLimit ?? 0) + 1 };
    return { writes: [{ kind: 'source' as const, id: 'web', entry }], result: entry.rateLimit };
  };
  const changes = await Promise.all([first, second, first, second].map((editor) => editor.change(increment)));
  assert.deepEqual(changes.map(({ result }) => result).sort(), [2, 3, 4, 5]);
  await Promise.all([first.refresh(), second.refresh()]);
  assert.deepEqual([first.source('web')?.rateLimit, second.source('web')?.rateLimit], [5, 5]);
});

test('a change whose acknowledgement is lost is written once', async () => {
  const cluster = newCluster();
  await using editor = await open(cluster);
  cluster.loseCommitAnswers = 1;
  let decisions = 0;
  const { result, version } = await editor.change(() => {
    decisions += 1;
    return { ...putSource(web)(), result: decisions };
  });
  assert.equal(cluster.loseCommitAnswers, 0);
  assert.deepEqual([result, version('source', 'web'), decisions], [1, 1, 1]);
  const keys = cluster.records(topic).map(({ key }) => String(key));
  assert.deepEqual(keys, ['queries-sealed', 'source/web']);
});

test('a change that fails in an outage is decided again, and written when Kafka is available', async () => {
  const cluster = newCluster();
  await using editor = await open(cluster);
  await editor.change(putSource(web));
  let decisions = 0;
  await editor.change(() => {
    decisions += 1;
    if (decisions === 1) {
      cluster.stop();
      setImmediate(() => {
        cluster.start();
      });
    }
    return putSource(app)();
  });
  assert.equal(decisions, 2);
  assert.deepEqual(editor.sources(), [app, web]);
});

test('secrets are encrypted in the topic, and refused without a key', async () => {
  const cluster = newCluster();
  await using editor = await open(cluster);
  await editor.change(putDestination(crm));
  assert.ok(!String(cluster.records(topic)[0]?.value).includes('s3cret'));

  const other = newCluster();
  await using keyless = await open(other, { secretKeys: {} });
  await assert.rejects(keyless.change(putDestination(crm)), (error) =>
    isTailraceError(error, 'secret-key-missing'),
  );
  assert.deepEqual(other.records(topic), []);
  await keyless.change(putDestination({ ...crm, settings: { webhooks: crm.settings.webhooks } }));
  assert.equal(keyless.destinations().length, 1);
});

test('an editor with another key does not open, unless it may replace locked entries', async () => {
  const cluster = newCluster();
  await using editor = await open(cluster);
  await editor.change(putDestination(crm));
  const secretKeys = { current: Buffer.alloc(32, 2) };
  await assert.rejects(open(cluster, { secretKeys }), (error) => isTailraceError(error, 'secret-locked'));
  await using replacing = await open(cluster, { secretKeys, mayReplaceLocked: true });
  await replacing.change(putDestination(crm));
  assert.deepEqual(replacing.destination('crm'), crm);
});

test('a record that is too large is refused, and the configuration stays as it was', async () => {
  const cluster = new MemoryCluster();
  cluster.createTopic(topic, { config: { 'max.message.bytes': '300' } });
  await using editor = await open(cluster);
  await editor.change(putSource(web));
  await assert.rejects(editor.change(putSource({ ...app, name: 'x'.repeat(400) })), (error) =>
    isTailraceError(error, 'record-too-large'),
  );
  await editor.refresh();
  assert.deepEqual(editor.sources(), [web]);
});

test('what a request has written is settled by every editor, once Kafka is available', async () => {
  const cluster = newCluster();
  await using first = await open(cluster, { requestId: () => 'request-1', giveUpAfterMs: 1 });
  await first.change(() => ({
    writes: [
      { kind: 'source', id: 'web', entry: web },
      { kind: 'destination', id: 'crm', entry: crm },
    ],
    result: undefined,
  }));
  await using second = await open(cluster);
  for (const editor of [first, second]) {
    assert.deepEqual(await editor.settle('request-1'), ['source/web', 'destination/crm']);
    assert.deepEqual(await editor.settle('request-2'), []);
  }
  cluster.stop();
  await assert.rejects(first.settle('request-1'), (error) => isTailraceError(error, 'kafka-unavailable'));
  cluster.start();
  assert.deepEqual((await first.settle('request-1')).length, 2);
});

test('a coordinator of transactions that is late is waited for, and one that does not exist is not', async () => {
  using time = simulateTime();
  for (const exists of [true, false]) {
    const cluster = newCluster();
    if (exists) cluster.createTopic('__transaction_state');
    await using kafka = cluster.connect();
    let refused = 0;
    const exclusivePublisher: typeof kafka.exclusivePublisher = (id) =>
      // Pauses of 0.2 s on average make this 40 s.
      (refused += 1) > 200
        ? kafka.exclusivePublisher(id)
        : Promise.reject(new TailraceError('transactions-unavailable'));
    const warnings: string[] = [];
    const log = { warn: (_fields: object, message: string) => void warnings.push(message) };
    const opening = openConfigEditor({ ...kafka, exclusivePublisher }, topic, log, {
      secretKeys: { current: key },
      withoutKey: 'refuse',
      giveUpAfterMs: 90_000,
      withoutTransactions: 'write',
    });
    const editor = await time.settled(opening);
    await time.settled(editor.change(putSource(web)));
    assert.equal(refused > 200, exists);
    assert.equal(warnings.length, exists ? 0 : 1);
    await time.settled(editor.close());
  }
});

test('the first installation that changes topics without an owner owns them, and others are refused', async () => {
  const cluster = newCluster();
  await using former = await open(cluster);
  await former.change(putSource(web));
  await using first = await open(cluster, { owner: 'one/tailrace' });
  // It opened them before they were taken.
  await using late = await open(cluster, { owner: 'two/tailrace' });
  await first.claim();
  await first.claim();
  const refused = (error: unknown): boolean => isTailraceError(error, 'other-owner');
  await assert.rejects(late.change(putSource(app)), refused);
  assert.ok(refused(late.unmet('router')));
  await assert.rejects(open(cluster, { owner: 'two/tailrace' }), refused);

  await first.change(putSource(app));
  await former.refresh();
  assert.deepEqual(
    former.sources().map(({ id }) => id),
    ['app', 'web'],
  );
  assert.equal(cluster.records(topic).filter(({ key }) => String(key) === 'owner').length, 1);
});

test('the mark of the owner leaves a new configuration new, so that its queries are sealed', async () => {
  const cluster = newCluster();
  await using control = await open(cluster, { owner: 'one/tailrace', secretKeys: {} });
  await control.claim();
  await using editor = await open(cluster);
  await editor.change(putSource(web));
  const keys = cluster.records(topic).map(({ key }) => String(key));
  assert.deepEqual(keys, ['owner', 'queries-sealed', 'source/web']);
});
