/** Applying and reading the configuration, on an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import type { KafkaLog } from '@tailrace/kafka';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { collect } from '@tailrace/testing';
import {
  applyConfiguration,
  openConfig,
  parseConfiguration,
  type Configuration,
  type ConfigView,
  type Destination,
  type EntryChange,
  type Source,
} from './index.ts';

const cluster = new MemoryCluster();
const kafka = cluster.connect();

let topics = 0;

/** A configuration topic for one test. */
function configTopic(): string {
  const topic = `config-${(topics += 1)}`;
  cluster.createTopic(topic);
  return topic;
}

async function open(
  topic: string,
  log: Pick<KafkaLog, 'warn'> = { warn: () => undefined },
): Promise<ConfigView & AsyncDisposable> {
  const view = await openConfig(kafka, topic, log);
  return Object.assign(view, { [Symbol.asyncDispose]: () => view.close() });
}

async function publish(topic: string, key: string, value: string | null): Promise<void> {
  const publisher = kafka.publisher();
  await publisher.publish({ topic, key, value });
  await publisher.close();
}

const web: Source = { id: 'web', writeKeys: ['wk_web'], enabled: true };
const app: Source = { id: 'app', writeKeys: ['wk_app'], enabled: true };
const crm: Destination = {
  id: 'crm',
  type: 'Webhooks',
  enabled: true,
  sources: ['web'],
  settings: { sharedSecret: 's3cret', webhooks: [{ url: 'https://crm.example.com/' }] },
};
const both: Configuration = { sources: [web, app], destinations: [crm] };

function shown(changes: readonly EntryChange[]): string[] {
  return changes.map(({ kind, id, outcome, fields }) => [outcome, `${kind}/${id}`, ...fields].join(' '));
}

function messageOf(code: 'invalid-configuration' | 'topic-missing', message: RegExp) {
  return (error: unknown) => isTailraceError(error, code) && message.test(error.message);
}

test('an applied configuration is read when the configuration is opened', async () => {
  const topic = configTopic();
  assert.deepEqual(shown(await applyConfiguration(kafka, topic, both)), [
    'created source/web',
    'created source/app',
    'created destination/crm',
  ]);
  await using view = await open(topic);
  assert.deepEqual(view.sources(), [app, web]);
  assert.deepEqual(view.sourceByWriteKey('wk_web'), web);
  assert.deepEqual(view.destination('crm'), crm);
  assert.deepEqual(view.destinationsOf('web'), [crm]);
  assert.deepEqual(view.destinationsOf('app'), []);
  assert.equal(view.healthy, true);
});

test('an empty topic is an empty configuration', async () => {
  await using view = await open(configTopic());
  assert.deepEqual([view.sources(), view.destinations()], [[], []]);
  assert.equal(view.sourceByWriteKey('wk_web'), undefined);
  await view.refresh();
});

test('an open configuration receives a change and notifies its listeners', async () => {
  const topic = configTopic();
  await applyConfiguration(kafka, topic, both);
  await using view = await open(topic);
  const changes = collect<string>('the changes', (change) => change);
  const stop = view.onChange(({ kind, id }) => {
    changes.add(`${kind}/${id}`);
  });

  await applyConfiguration(kafka, topic, { sources: [{ ...web, writeKeys: ['wk_new'] }], destinations: [] });
  assert.deepEqual(await changes.waitFor(1), ['source/web']);
  assert.equal(view.sourceByWriteKey('wk_web'), undefined);
  assert.equal(view.sourceByWriteKey('wk_new')?.id, 'web');

  stop();
  await applyConfiguration(kafka, topic, { sources: [app], destinations: [] }, { prune: true });
  await view.refresh();
  assert.equal(changes.items.length, 1);
  assert.deepEqual([view.sources(), view.destinations()], [[app], []]);
});

test('a refresh applies every change acknowledged before it, also with concurrent refreshes', async () => {
  const topic = configTopic();
  await using view = await open(topic);
  const early = view.refresh();
  await applyConfiguration(kafka, topic, both);
  await Promise.all([view.refresh(), view.refresh(), view.refresh()]);
  assert.ok(view.source('web'));
  assert.ok(view.destination('crm'));
  await early;
});

test('an unreadable record is logged and leaves its entry unchanged, and applying again fixes it', async () => {
  const topic = configTopic();
  await applyConfiguration(kafka, topic, both);
  const warnings = collect<object>('the warnings', (fields) => JSON.stringify(fields));
  await using view = await open(topic, { warn: warnings.add });
  await publish(topic, 'source/web', '{"id":');
  await publish(topic, 'destination/crm', JSON.stringify({ ...crm, settings: { webhooks: [] } }));
  await view.refresh();
  assert.deepEqual(
    warnings.items.map((fields) => ('key' in fields ? fields.key : undefined)),
    ['source/web', 'destination/crm'],
  );
  assert.ok(!JSON.stringify(warnings.items).includes('s3cret'));
  assert.deepEqual(view.source('web'), web);
  assert.deepEqual(view.destination('crm'), crm);

  assert.deepEqual(shown(await applyConfiguration(kafka, topic, both)), [
    'updated source/web',
    'unchanged source/app',
    'updated destination/crm',
  ]);
  await using reopened = await open(topic);
  assert.deepEqual(reopened.source('web'), web);
});

test('only differences are written, and an update names its fields without their values', async () => {
  const topic = configTopic();
  await applyConfiguration(kafka, topic, both);
  const written = cluster.records(topic).length;
  assert.deepEqual(shown(await applyConfiguration(kafka, topic, both)), [
    'unchanged source/web',
    'unchanged source/app',
    'unchanged destination/crm',
  ]);
  assert.equal(cluster.records(topic).length, written);

  const changed: Destination = {
    ...crm,
    enabled: false,
    settings: {
      sharedSecret: 'rotated',
      webhooks: [{ url: 'https://crm.example.com/', headers: { 'X-Team': 'growth' } }],
    },
  };
  const again = { sources: [web, app], destinations: [changed] };
  assert.deepEqual(shown(await applyConfiguration(kafka, topic, again)), [
    'unchanged source/web',
    'unchanged source/app',
    'updated destination/crm enabled settings.sharedSecret settings.webhooks[0].headers',
  ]);
  const records = cluster.records(topic);
  assert.equal(records.length, written + 1);
  assert.deepEqual(JSON.parse(records.at(-1)?.value?.toString() ?? ''), changed);
});

test('an entry missing from the file is kept, and with prune deleted by a tombstone', async () => {
  const topic = configTopic();
  await applyConfiguration(kafka, topic, both);
  const onlyApp: Configuration = { sources: [app], destinations: [] };
  assert.deepEqual(shown(await applyConfiguration(kafka, topic, onlyApp)), [
    'unchanged source/app',
    'left destination/crm',
    'left source/web',
  ]);
  const pruned = ['unchanged source/app', 'deleted destination/crm', 'deleted source/web'];
  const before = cluster.records(topic).length;
  const dryRun = await applyConfiguration(kafka, topic, onlyApp, { prune: true, dryRun: true });
  assert.deepEqual(shown(dryRun), pruned);
  assert.equal(cluster.records(topic).length, before, 'a dry run writes nothing');

  assert.deepEqual(shown(await applyConfiguration(kafka, topic, onlyApp, { prune: true })), pruned);
  const last = cluster.records(topic).slice(before);
  assert.deepEqual(
    last.map(({ key, value }) => [key?.toString(), value]),
    [
      ['destination/crm', null],
      ['source/web', null],
    ],
  );
});

test('a destination may name a source that is only in the topic, unless prune would delete it', async () => {
  const topic = configTopic();
  await applyConfiguration(kafka, topic, { sources: [web], destinations: [] });
  const configuration = parseConfiguration(
    `destinations:
  - id: crm
    type: Webhooks
    sources: [web]
    settings: { webhooks: [{ url: https://crm.example.com/ }] }
`,
    { fileName: 'crm.yaml', env: {}, readFile: readFileSync },
  );
  await assert.rejects(
    applyConfiguration(kafka, topic, configuration, { prune: true }),
    messageOf(
      'invalid-configuration',
      /^crm\.yaml:4:15 destinations\[0\]\.sources\[0\]: there is no source "web"$/,
    ),
  );
  assert.deepEqual(shown(await applyConfiguration(kafka, topic, configuration)), [
    'created destination/crm',
    'left source/web',
  ]);
});

test('14.2 a new write key is not short, and a short one of before stays', async () => {
  const topic = configTopic();
  const short = { ...web, writeKeys: ['k'] };
  await assert.rejects(
    applyConfiguration(kafka, topic, { sources: [app, short], destinations: [] }),
    messageOf(
      'invalid-configuration',
      /^sources\[1\]\.writeKeys\[0\]: is too short: a new write key has at least 6 characters/,
    ),
  );
  await publish(topic, 'source/web', JSON.stringify(short));
  const later = { ...short, name: 'Website', writeKeys: ['k', 'wk_web'] };
  const changes = await applyConfiguration(
    kafka,
    topic,
    { sources: [later], destinations: [] },
    { prune: true },
  );
  assert.deepEqual(shown(changes), ['updated source/web writeKeys name']);
});

test('a write key of a kept source cannot be given to another source, and nothing is written', async () => {
  const topic = configTopic();
  await applyConfiguration(kafka, topic, { sources: [web], destinations: [] });
  const renamed: Configuration = { sources: [app, { ...web, id: 'website' }], destinations: [] };
  await assert.rejects(
    applyConfiguration(kafka, topic, renamed),
    messageOf(
      'invalid-configuration',
      /^sources\[1\]\.writeKeys\[0\]: is already a write key of the source "web"/,
    ),
  );
  assert.equal(cluster.records(topic).length, 1);
  assert.deepEqual(shown(await applyConfiguration(kafka, topic, renamed, { prune: true })), [
    'created source/app',
    'created source/website',
    'deleted source/web',
  ]);
  await using view = await open(topic);
  assert.equal(view.sourceByWriteKey('wk_web')?.id, 'website');
});

test('a configuration built by a program is checked like one from a file', async () => {
  const topic = configTopic();
  const broken: Configuration = { sources: [{ ...web, id: 'a b' }], destinations: [] };
  await assert.rejects(
    applyConfiguration(kafka, topic, broken),
    messageOf('invalid-configuration', /^sources\[0\]\.id: is not 1 to 64 letters/),
  );
});

test('applying to a missing topic fails with a hint how to create it', async () => {
  await assert.rejects(
    applyConfiguration(kafka, 'missing', both),
    messageOf('topic-missing', /tailrace topics apply/),
  );
});
