/** Secrets through the API: masks, sealed records in Kafka, and the change of the secret key. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { openConfig, type Destination } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import type { MemoryCluster } from '@tailrace/kafka/testing';
import { names, newCluster, openApi, secretKey } from '../testing/api.ts';

const control = await openApi();
after(() => control[Symbol.asyncDispose]());

const oldKey = Buffer.from(secretKey, 'hex');
const newKey = randomBytes(32);
const quiet = { warn: () => undefined };
const url = 'https://crm.example.com/hook';
const secrets = ['first-secret', 'header-secret'];

function destination(id: string): Destination {
  const webhook = { url, headers: { 'X-Key': 'header-secret' }, secretHeaders: ['x-key'] };
  const settings = { sharedSecret: 'first-secret', webhooks: [webhook] };
  return { id, type: 'Webhooks', enabled: true, sources: [], settings };
}

/** A cluster whose configuration a release before has written, of which a delivery replica may still run. */
async function upgradedCluster(): Promise<MemoryCluster> {
  const cluster = newCluster();
  const publisher = cluster.connect().publisher();
  const source = { id: 'web', writeKeys: ['wk_web'], enabled: true };
  await publisher.publish({ topic: names.config, key: 'source/web', value: JSON.stringify(source) });
  await publisher.close();
  return cluster;
}

/** The last record of a destination in the topic. */
function stored(id: string): string {
  const records = control.cluster.records(names.config);
  return records.findLast(({ key }) => key?.toString() === `destination/${id}`)?.value?.toString() ?? '';
}

async function openedWith(secretKeys: { current?: Buffer; previous?: Buffer }, id: string) {
  const view = await openConfig(control.kafka, names.config, quiet, { secretKeys });
  await view.close();
  return view.destination(id);
}

test('a mask keeps the stored secret, but not the value of a header for another URL', async () => {
  const body = destination('kept');
  const shown = await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  assert.ok(!secrets.some((secret) => JSON.stringify(shown).includes(secret)));
  const path = '/v1/destinations/kept';
  await control.expect(200, { method: 'PUT', path, body: { ...shown, name: 'CRM' } });
  const kept = await openedWith({ current: oldKey }, 'kept');
  assert.deepEqual(kept, { ...destination('kept'), name: 'CRM' });

  const text = JSON.stringify(shown).replace(url, 'https://elsewhere.example.com/');
  const moved = await control.ask({ method: 'PUT', path, bytes: text });
  assert.deepEqual(moved.json['problems'], [
    {
      field: 'settings.webhooks[0].headers["X-Key"]',
      rule: 'is the mask of a secret, and no secret is stored here; set a value',
    },
  ]);
});

test('17.5 secrets are sealed in Kafka, and a view without keys can still read the entry', async () => {
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body: destination('sealed') });
  const text = stored('sealed');
  assert.ok(!secrets.some((secret) => text.includes(secret)), text);
  const view = await openConfig(control.kafka, names.config, quiet);
  await view.close();
  assert.equal(view.destination('sealed')?.settings.webhooks[0]?.url, url);
});

test('a header that is secret by its name is sealed, and one that was stored in plain text is at the next reseal', async () => {
  const webhook = { url, headers: { Authorization: 'Bearer header-secret', 'X-Team': 'growth' } };
  const body = {
    id: 'named',
    type: 'Webhooks',
    enabled: true,
    sources: [],
    settings: { webhooks: [webhook] },
  };
  const created = await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  assert.ok(!stored('named').includes('header-secret'));
  // What was read can be sent back, also without the header.
  const { settings } = created as { settings: { webhooks: object[] } };
  const bare = {
    webhooks: settings.webhooks.map((shown) => ({ ...shown, headers: { 'X-Team': 'growth' } })),
  };
  await control.expect(200, { method: 'PATCH', path: '/v1/destinations/named', body: { settings: bare } });

  const publisher = control.kafka.publisher();
  const value = JSON.stringify({ ...body, id: 'plain' });
  await publisher.publish({ topic: names.config, key: 'destination/plain', value });
  await publisher.close();
  const resealed = await control.expect(200, { method: 'POST', path: '/v1/secrets/reseal' });
  assert.deepEqual(resealed['destinations'], ['plain']);
  assert.ok(!stored('plain').includes('header-secret'));
  const opened = await openedWith({ current: oldKey }, 'plain');
  assert.deepEqual(opened?.settings.webhooks[0]?.headers, webhook.headers);
  const again = await control.expect(200, { method: 'POST', path: '/v1/secrets/reseal' });
  assert.deepEqual(again['destinations'], []);
});

test('the queries of URLs are sealed from the start, where no release before this one has written the configuration', async () => {
  await using fresh = await openApi();
  const create = (id: string) => {
    const settings = { webhooks: [{ url: `${url}?token=query-secret` }] };
    return fresh.expect(201, {
      method: 'POST',
      path: '/v1/destinations',
      body: { id, type: 'Webhooks', settings },
    });
  };
  await create('first');
  // Also after the last one was deleted.
  await fresh.expect(204, { method: 'DELETE', path: '/v1/destinations/first' });
  await create('second');
  await using again = await openApi(fresh.cluster);
  await again.expect(204, { method: 'DELETE', path: '/v1/destinations/second' });
  await create('third');
  const text = fresh.cluster.records(names.config).map(({ value }) => String(value));
  assert.equal(text.filter((value) => value.includes('/hook?sealed:v1:')).length, 3);
  assert.doesNotMatch(text.join(), /query-secret/);
  const shown = await fresh.expect(200, { path: '/v1/destinations/third' });
  assert.deepEqual(shown['settings'], { webhooks: [{ url: `${url}?token=query-secret` }] });
});

test('the queries of URLs are sealed from the reseal on that says so, also where none is stored', async () => {
  await using fresh = await openApi(await upgradedCluster());
  const record = (id: string): string =>
    String(
      fresh.cluster.records(names.config).findLast(({ key }) => String(key) === `destination/${id}`)?.value,
    );
  const create = (id: string) => {
    const settings = { webhooks: [{ url: `${url}?token=query-secret` }, { url }] };
    return fresh.expect(201, {
      method: 'POST',
      path: '/v1/destinations',
      body: { id, type: 'Webhooks', settings },
    });
  };
  const reseal = async (query = '') =>
    (await fresh.expect(200, { method: 'POST', path: `/v1/secrets/reseal${query}` }))['destinations'];
  await create('early');
  assert.deepEqual(await reseal(), []);
  assert.match(record('early'), /query-secret/);
  await fresh.expect(204, { method: 'DELETE', path: '/v1/destinations/early' });
  assert.deepEqual(await reseal('?queries=true'), []);
  await create('early');
  await create('late');
  for (const id of ['early', 'late']) {
    assert.match(record(id), /\/hook\?sealed:v1:/);
    assert.doesNotMatch(record(id), /query-secret/);
    const shown = await fresh.expect(200, { path: `/v1/destinations/${id}` });
    assert.deepEqual(shown['settings'], { webhooks: [{ url: `${url}?token=query-secret` }, { url }] });
  }
  assert.deepEqual(await reseal('?queries=true'), []);
  assert.deepEqual(await reseal('?queries=false'), ['early', 'late']);
  assert.match(record('early') + record('late'), /query-secret.*query-secret/s);
  await create('plain');
  assert.match(record('plain'), /query-secret/);
  await fresh.expect(204, { method: 'DELETE', path: '/v1/destinations/plain' });
  // Where the release before has added a URL, its query is in plain text and the other is sealed.
  await fresh.expect(204, { method: 'DELETE', path: '/v1/destinations/early' });
  assert.deepEqual(await reseal('?queries=true'), ['late']);
  const mixed = JSON.parse(record('late')) as { settings: { webhooks: object[] } };
  mixed.settings.webhooks.push({ url: `${url}?token=plain` });
  const publisher = fresh.kafka.publisher();
  await publisher.publish({ topic: names.config, key: 'destination/late', value: JSON.stringify(mixed) });
  await publisher.close();
  assert.deepEqual(await reseal('?queries=false'), ['late']);
  assert.doesNotMatch(record('late'), /sealed:v1:/);
});

test('the configuration with secrets cannot be opened without the key', async () => {
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body: destination('locked') });
  for (const keys of [{}, { current: newKey }]) {
    await assert.rejects(openedWith(keys, 'locked'), (error) => isTailraceError(error, 'secret-locked'));
  }
});

test('after a change of the key and a reseal, the old key opens nothing', async () => {
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body: destination('rotated') });
  await using rotating = await openApi(control.cluster, {
    TAILRACE_SECRET_KEY: newKey.toString('hex'),
    TAILRACE_SECRET_KEY_PREVIOUS: secretKey,
  });
  const resealed = await rotating.expect(200, { method: 'POST', path: '/v1/secrets/reseal' });
  assert.ok((resealed['destinations'] as string[]).includes('rotated'));
  const again = await rotating.expect(200, { method: 'POST', path: '/v1/secrets/reseal' });
  assert.deepEqual(again['destinations'], []);
  assert.deepEqual(await openedWith({ current: newKey }, 'rotated'), destination('rotated'));
  await assert.rejects(openedWith({ current: oldKey }, 'rotated'), (error) =>
    isTailraceError(error, 'secret-locked'),
  );
});

test('without a key, a secret is refused with a hint, and other changes work', async () => {
  await using keyless = await openApi(newCluster(), { TAILRACE_SECRET_KEY: '' });
  const body = destination('crm');
  const answer = await keyless.ask({ method: 'POST', path: '/v1/destinations', body });
  assert.deepEqual([answer.status, answer.json['code']], [409, 'secret-key-missing']);
  assert.match(String(answer.json['message']), /openssl rand -hex 32/);
  const open = { type: 'Webhooks', settings: { webhooks: [{ url }] } };
  await keyless.expect(201, { method: 'POST', path: '/v1/destinations', body: open });
  const query = { type: 'Webhooks', settings: { webhooks: [{ url: `${url}?token=a` }] } };
  await keyless.expect(201, { method: 'POST', path: '/v1/destinations', body: query });
  const seal = await keyless.ask({ method: 'POST', path: '/v1/secrets/reseal?queries=true' });
  assert.deepEqual([seal.status, seal.json['code']], [409, 'secret-key-missing']);
});

test('without a key, a destination whose secrets are in plain text can be paused and disabled, but gets no other secret', async () => {
  await using keyless = await openApi(newCluster(), { TAILRACE_SECRET_KEY: '' });
  const headers = { Authorization: 'Bearer header-secret' };
  const settings = { webhooks: [{ url, headers }] };
  const entry = { id: 'plain', type: 'Webhooks', enabled: true, sources: [], settings };
  const publisher = keyless.kafka.publisher();
  await publisher.publish({ topic: names.config, key: 'destination/plain', value: JSON.stringify(entry) });
  await publisher.close();
  const path = '/v1/destinations/plain';
  await keyless.expect(200, { method: 'POST', path: `${path}/pause` });
  await keyless.expect(200, { method: 'PATCH', path, body: { enabled: false } });
  const other = { webhooks: [{ url, headers: { Authorization: 'Bearer another' } }] };
  for (const changed of [other, { ...settings, sharedSecret: 'a' }]) {
    const answer = await keyless.ask({ method: 'PATCH', path, body: { settings: changed } });
    assert.deepEqual([answer.status, answer.json['code']], [409, 'secret-key-missing']);
  }
});
