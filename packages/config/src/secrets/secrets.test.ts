import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { isTailraceError } from '@tailrace/errors';
import {
  applyConfiguration,
  checkDestination,
  formatPath,
  openConfig,
  openConfigEditor,
  type Configuration,
  type Destination,
  type SecretKeys,
} from '../index.ts';
import { decrypt, encrypt } from './encryption.ts';

const topic = 'config';
const current = randomBytes(32);
const headers = {
  Authorization: 'Bearer S3CRET',
  cookie: 'session=S3CRET',
  'X-Api-Key': 'S3CRET',
  'X-Team': 'growth',
};

const crm = destinationOf(headers);

function destinationOf(given: Readonly<Record<string, string>>, secretHeaders?: readonly string[]) {
  const webhook = {
    url: 'https://crm.example.com/',
    headers: given,
    ...(secretHeaders && { secretHeaders }),
  };
  return {
    id: 'crm',
    type: 'Webhooks',
    enabled: true,
    sources: [],
    settings: { webhooks: [webhook] },
  } as const;
}

function newCluster(): MemoryCluster {
  const cluster = new MemoryCluster();
  cluster.createTopic(topic);
  return cluster;
}

async function apply(cluster: MemoryCluster, destination: Destination, secretKeys: SecretKeys = { current }) {
  const configuration: Configuration = { sources: [], destinations: [destination] };
  const changes = await applyConfiguration(cluster.connect(), topic, configuration, { secretKeys });
  return changes.map(({ outcome, fields }) => [outcome, ...fields].join(' '));
}

async function stored(cluster: MemoryCluster, secretKeys?: SecretKeys): Promise<Destination | undefined> {
  const view = await openConfig(cluster.connect(), topic, { warn: () => undefined }, { secretKeys });
  await view.close();
  return view.destination('crm');
}

function lastRecord(cluster: MemoryCluster): string {
  return String(cluster.records(topic).at(-1)?.value);
}

/** The headers that a release opens which knows only `secretHeaders`. */
function headersByNameAlone(record: string): Record<string, string> {
  const { settings } = JSON.parse(record) as Destination;
  const { headers: sealed = {}, secretHeaders = [] } = settings.webhooks[0] ?? {};
  return Object.fromEntries(
    Object.entries(sealed).map(([name, value]) => {
      if (!secretHeaders.includes(name)) return [name, value];
      const place = formatPath(['settings', 'webhooks', 0, 'headers', name]);
      const opened = decrypt(value, `destination/crm ${place}`, { current });
      return [name, 'text' in opened ? opened.text : opened.why];
    }),
  );
}

test('a header that is secret by its name is sealed, and the release before opens it', async () => {
  const cluster = newCluster();
  assert.deepEqual(await apply(cluster, crm), ['created']);
  assert.doesNotMatch(lastRecord(cluster), /S3CRET/);
  assert.match(lastRecord(cluster), /growth/);
  assert.deepEqual(headersByNameAlone(lastRecord(cluster)), headers);
  assert.deepEqual((await stored(cluster, { current }))?.settings.webhooks[0]?.headers, headers);
  assert.equal((await stored(cluster))?.settings.webhooks[0]?.headers?.['X-Team'], 'growth');
  await assert.rejects(stored(cluster, { current: randomBytes(32) }), (error) =>
    isTailraceError(error, 'secret-locked'),
  );
});

test('password, token and client secret are sealed, and services without a key read the entry', async () => {
  const oauth2 = { tokenUrl: 'https://id.example.com/token', clientId: 'crm', clientSecret: 'S3CRET' };
  for (const more of [
    { auth: { username: 'ada', password: 'S3CRET' } },
    { auth: { token: 'S3CRET' } },
    { oauth2 },
  ]) {
    const cluster = newCluster();
    const plain = destinationOf({});
    const settings = { ...plain.settings, ...more };
    await apply(cluster, { ...plain, settings });
    assert.doesNotMatch(lastRecord(cluster), /S3CRET/);
    assert.deepEqual((await stored(cluster, { current }))?.settings, settings);
    assert.equal((await stored(cluster))?.id, 'crm');
  }
});

test('apply seals an entry that the release before wrote in plain text, once', async () => {
  const cluster = newCluster();
  const publisher = cluster.connect().publisher();
  await publisher.publish({ topic, key: 'destination/crm', value: JSON.stringify(crm) });
  await publisher.close();
  assert.deepEqual((await stored(cluster, { current }))?.settings.webhooks[0]?.headers, headers);
  assert.deepEqual(await apply(cluster, crm), ['updated']);
  assert.doesNotMatch(lastRecord(cluster), /S3CRET/);
  assert.deepEqual(await apply(cluster, crm), ['unchanged']);
});

test('8.7 apply makes an Ed25519 key, seals it, keeps it, and never writes it in plain text', async () => {
  const cluster = newCluster();
  const [webhook] = crm.settings.webhooks;
  const signed: Destination = { ...crm, settings: { webhooks: [{ url: webhook.url }], ed25519: {} } };
  await assert.rejects(apply(cluster, signed, {}), { code: 'secret-key-missing' });
  assert.equal(cluster.records(topic).length, 0);
  assert.deepEqual(await apply(cluster, signed), ['created']);
  const made = (await stored(cluster, { current }))?.settings.ed25519 ?? {};
  assert.match(made.key ?? '', /^whsk_[A-Za-z0-9+/]{86}==$/);
  assert.match(lastRecord(cluster), /"ed25519":\{"key":"sealed:v1:/);
  assert.deepEqual(await apply(cluster, signed), ['unchanged']);
  // Services without the secret key send nothing.
  assert.equal((await stored(cluster))?.settings.ed25519, undefined);
  // A new secret key seals the same keys.
  const other = randomBytes(32);
  assert.deepEqual(await apply(cluster, signed, { current: other, previous: current }), ['updated']);
  assert.deepEqual((await stored(cluster, { current: other }))?.settings.ed25519, made);
  // Without the setting the key is gone, and the next one is another.
  const settings = { webhooks: signed.settings.webhooks };
  assert.deepEqual(await apply(cluster, { ...signed, settings }, { current: other }), [
    'updated settings.ed25519',
  ]);
  assert.deepEqual(await apply(cluster, signed, { current: other }), ['updated settings.ed25519']);
  assert.notDeepEqual((await stored(cluster, { current: other }))?.settings.ed25519, made);
});

test('without a key nothing is sealed, and the entry does not change for ever', async () => {
  const cluster = newCluster();
  assert.deepEqual(await apply(cluster, crm, {}), ['created']);
  assert.match(lastRecord(cluster), /S3CRET/);
  assert.deepEqual(await apply(cluster, crm, {}), ['unchanged']);
});

test('secretHeaders has the headers that are sealed by their names, and those that were named', () => {
  const secretHeadersOf = (given: readonly string[] | undefined, of = headers as Record<string, string>) => {
    const checked = checkDestination(destinationOf(of, given));
    return 'value' in checked ? checked.value.settings.webhooks[0]?.secretHeaders : checked.problems;
  };
  assert.deepEqual(secretHeadersOf(undefined), ['Authorization', 'cookie', 'X-Api-Key']);
  assert.deepEqual(secretHeadersOf(['x-team', 'X-TEAM', 'authorization']), [
    'authorization',
    'cookie',
    'X-Api-Key',
    'x-team',
  ]);
  assert.equal(secretHeadersOf(undefined, { 'X-Team': 'growth' }), undefined);
  // An entry that was read, and sent back without the header.
  assert.equal(secretHeadersOf(['Authorization'], { 'X-Team': 'growth' }), undefined);
});

test('sealed queries of URLs are opened with the key only, and apply does not change them for ever', async () => {
  const cluster = newCluster();
  const url = 'https://crm.example.com/hook?token=S3CRET&a=%20#b';
  const tokenUrl = 'https://id.example.com/token?key=S3CRET';
  const oauth2 = { tokenUrl, clientId: 'crm', clientSecret: 's' };
  const open = { ...crm, settings: { webhooks: [{ url }, { url: 'https://crm.example.com/' }], oauth2 } };
  // Of the release before.
  const earlier = cluster.connect().publisher();
  await earlier.publish({ topic, key: 'destination/old', value: null });
  await earlier.close();
  assert.deepEqual(await apply(cluster, open), ['created']);
  assert.match(lastRecord(cluster), /token=S3CRET/);
  const log = { warn: () => undefined };
  const options = { secretKeys: { current }, withoutKey: 'refuse' } as const;
  const editor = await openConfigEditor(cluster.connect(), topic, log, options);
  assert.deepEqual([editor.queries('crm'), editor.isStale('destination', 'crm')], ['plain', false]);
  await editor.change(() => ({
    writes: [{ kind: 'destination', id: 'crm', entry: open }],
    result: undefined,
    sealQueries: true,
  }));
  assert.equal(editor.queries('crm'), 'sealed');
  await editor.close();
  assert.doesNotMatch(lastRecord(cluster), /S3CRET/);
  assert.deepEqual(await stored(cluster, { current }), open);
  const { webhooks: [webhook] = [], oauth2: client } = (await stored(cluster))?.settings ?? {};
  assert.equal(webhook?.url, 'https://crm.example.com/hook?sealed');
  assert.equal(client?.tokenUrl, 'https://id.example.com/token?sealed');
  const other = randomBytes(32);
  await assert.rejects(stored(cluster, { current: other }), { code: 'secret-locked' });
  assert.deepEqual(await apply(cluster, open), ['unchanged']);
  // A change, also with a new key, keeps them sealed.
  assert.deepEqual(await apply(cluster, open, { current: other, previous: current }), ['updated']);
  assert.doesNotMatch(lastRecord(cluster), /S3CRET/);
  assert.deepEqual(await stored(cluster, { current: other }), open);
  // So does an entry that replaces one whose key was lost.
  const third = randomBytes(32);
  assert.deepEqual(await apply(cluster, open, { current: third }), ['created']);
  assert.doesNotMatch(lastRecord(cluster), /S3CRET/);
  // What the release before wrote meanwhile is sealed again.
  const publisher = cluster.connect().publisher();
  const rss = { ...open, id: 'rss' };
  await publisher.publish({ topic, key: 'destination/rss', value: JSON.stringify(rss) });
  await publisher.close();
  assert.deepEqual(await apply(cluster, rss, { current: third }), ['updated', 'left']);
  assert.doesNotMatch(lastRecord(cluster), /S3CRET/);
});

test('a query in the form of a sealed one is refused', () => {
  const url = `https://crm.example.com/?${encrypt('a', 'b', current)}`;
  const checked = checkDestination({ ...crm, settings: { webhooks: [{ url }] } });
  assert.match(
    'problems' in checked ? (checked.problems[0]?.message ?? '') : '',
    /form of an encrypted secret/,
  );
});
