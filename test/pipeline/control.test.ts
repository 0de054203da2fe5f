/** The walk through the API, on two instances behind a proxy: each request is answered by the other one. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { verifySignature } from '@tailrace/signing';
import { eventually } from '@tailrace/testing';
import { verifySignature as verifyByKeys } from '../../packages/analytics-node/src/node/verify-signature.ts';
import { secretKey, startControlPair } from '../support/processes/control.ts';
import { startPipeline } from '../support/processes/pipeline.ts';
import { status } from '../support/receivers/answers.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const sharedSecret = 'a secret that is never shown';
const headerSecret = 'another-one';
const querySecret = 'one-in-a-url';

const started = new AsyncDisposableStack();
after(() => started.disposeAsync());
const cluster = new MemoryCluster();
const retrySchedule = '50ms,50ms';
const pipeline = started.use(
  await startPipeline({
    cluster,
    retrySchedule,
    retryWindow: '10m',
    deliveryTimeout: '2m',
    env: { TAILRACE_SECRET_KEY: secretKey },
  }),
);
const topics = { TAILRACE_PARTITIONS: '2', TAILRACE_RETRY_SCHEDULE: retrySchedule };
const prefix = pipeline.names.config.replace(/config$/, '');
// Each request is answered by the other instance.
const control = started.use(await startControlPair(cluster, prefix, topics));

/** Resolves when both instances show it: each reads the history for itself, and any of them answers the next request. */
async function shownByBoth(path: string, holds: (shown: Readonly<Record<string, unknown>>) => boolean) {
  let last: Readonly<Record<string, unknown>> = {};
  for (const instance of control.instances)
    last = await eventually(() => instance.expect(200, { path }), holds);
  return last;
}
const hasItems = ({ items }: Readonly<Record<string, unknown>>): boolean => (items as unknown[]).length > 0;

test('a source and a destination are created, connected, enabled, tested, used, restricted and disabled through the API', async () => {
  await using receiver = await startReceiver();

  const source = await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'web' } });
  const [writeKey] = source['writeKeys'] as string[];
  const destination = await control.expect(201, {
    method: 'POST',
    path: '/v1/destinations',
    body: {
      id: 'crm',
      type: 'Webhooks',
      enabled: false,
      settings: {
        sharedSecret,
        webhooks: [
          {
            url: `${receiver.url}/hook?token=${querySecret}`,
            headers: { Authorization: headerSecret, 'X-Team': 'growth' },
          },
        ],
      },
    },
  });
  assert.deepEqual(destination['settings'], {
    sharedSecret: '********',
    webhooks: [
      {
        url: `${receiver.url}/hook?token=${querySecret}`,
        headers: { Authorization: '********', 'X-Team': '********' },
        secretHeaders: ['Authorization'],
      },
    ],
  });

  await control.expect(200, { method: 'POST', path: '/v1/secrets/reseal?queries=true' });
  const { items } = await control.expect(200, {
    method: 'POST',
    path: '/v1/destinations/crm/test',
    body: { type: 'identify' },
  });
  const [tried] = items as { request: { body: string; headers: Record<string, string> }; response: object }[];
  const [sample] = await receiver.waitFor(1);
  assert.ok(tried && sample);
  assert.equal(sample.body.toString(), tried.request.body);
  assert.equal(tried.request.headers['Authorization'], '********');
  assert.equal(sample.headers['authorization'], headerSecret);
  assert.equal((tried.response as { status: number }).status, 200);

  await control.expect(200, { method: 'PUT', path: '/v1/destinations/crm/sources/web' });
  await control.expect(200, { method: 'PATCH', path: '/v1/destinations/crm', body: { enabled: true } });

  const send = async (event: string, userId = 'ada'): Promise<number> => {
    const response = await fetch(`${pipeline.ingestUrl}/v1/track`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${writeKey ?? ''}:`)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ userId, event }),
    });
    return response.status;
  };
  const arrived = (event: string) =>
    receiver.find(({ json }) => (json() as { event?: string }).event === event);
  // Each event is sent until it is delivered: a change is in effect everywhere soon after it is acknowledged.
  const delivered = await eventually(
    async () => {
      await send('Wanted');
      return receiver.requests.find(({ json }) => (json() as { event?: string }).event === 'Wanted');
    },
    (request) => request !== undefined,
  );
  assert.ok(delivered);
  assert.ok(verifySignature(sharedSecret, delivered.body, delivered.headers['x-signature'] ?? ''));
  assert.equal(delivered.headers['authorization'], headerSecret);
  assert.equal(delivered.path, `/hook?token=${querySecret}`);

  const rotateKey = { method: 'POST', path: '/v1/destinations/crm/rotate-signing-key' } as const;
  await control.expect(200, rotateKey);
  await control.expect(200, { method: 'POST', path: '/v1/destinations/crm/pause' });
  await eventually(
    async () => {
      await send('While paused');
      return control.ask({ path: '/v1/deliveries?destination=crm&status=waiting' });
    },
    ({ text }) => text.includes('"reason":"paused"'),
  );
  // What waits is signed when it is sent: nothing needs a key that has ended meanwhile.
  await control.expect(200, { ...rotateKey, body: { keepPreviousFor: '0s' } });
  await control.expect(200, { method: 'POST', path: '/v1/destinations/crm/resume' });
  const late = await arrived('While paused');
  await eventually(
    async () => {
      const path = '/.well-known/tailrace/jwks.json?destination=crm';
      const { keys } = (await control.expect(200, { path, token: null })) as { keys?: { x: string }[] };
      return keys?.length === 1 && verifyByKeys(keys, late.body, late.headers);
    },
    (isVerified) => isVerified,
  );
  const rotated = await control.ask({ method: 'POST', path: '/v1/destinations/crm/rotate-secret' });
  assert.equal(rotated.status, 200, rotated.text);
  await send('After the rotation');
  const signed = await arrived('After the rotation');
  // Receivers have a day to learn the new secret.
  assert.ok(verifySignature(sharedSecret, signed.body, signed.headers['x-signature'] ?? ''));

  await control.expect(200, { method: 'PUT', path: '/v1/sources/web/blocked-events?event=Unwanted' });
  const { text: blocked } = await eventually(
    async () => {
      await send('Unwanted');
      return control.ask({ path: '/v1/decisions?reason=schema&destination=crm' });
    },
    ({ text }) => text.includes('"event":"Unwanted"'),
  );
  assert.ok(blocked.includes('"reason":"schema"'));
  // The router knows of it now.
  await send('Unwanted', 'grace');
  await send('Behind it', 'grace');
  await arrived('Behind it');
  assert.ok(receiver.requests.every(({ body }) => !/"grace".*"Unwanted"/.test(body.toString())));

  const waiting = receiver.requests.length;
  await control.expect(200, { method: 'PATCH', path: '/v1/sources/web', body: { enabled: false } });
  await eventually(
    () => send('Late'),
    (status) => status === 401,
  );
  await control.expect(200, { method: 'PATCH', path: '/v1/destinations/crm', body: { enabled: false } });
  assert.ok(receiver.requests.length >= waiting);

  const stored = cluster
    .records(pipeline.names.config)
    .map(({ value }) => String(value))
    .join('\n');
  assert.ok(stored.includes('sealed:v1:'));
  for (const secret of [sharedSecret, headerSecret, querySecret]) assert.ok(!stored.includes(secret));
  const logs = JSON.stringify(
    [...control.instances.map(({ service }) => service), pipeline.delivery].map(({ log }) => log.items),
  );
  assert.ok(!logs.includes(sharedSecret) && !logs.includes(headerSecret));
});

test('the verbs of operators work through the API', async (t) => {
  let isAccepting = true;
  await using receiver = await startReceiver({ answer: () => status(isAccepting ? 200 : 400) });
  const source = { id: 'shop', writeKeys: ['wk_verbs'] };
  await control.expect(201, { method: 'POST', path: '/v1/sources', body: source });
  const webhooks = [{ url: receiver.url }];
  const settings = { sharedSecret: 'first secret', webhooks };
  const body = { id: 'erp', type: 'Webhooks', sources: ['shop'], settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  const at = '/v1/destinations/erp';

  const send = async (messageId: string, event: string, userId = 'ada'): Promise<void> => {
    const answer = await eventually(
      () =>
        fetch(`${pipeline.ingestUrl}/v1/track`, {
          method: 'POST',
          headers: { authorization: `Basic ${btoa('wk_verbs:')}` },
          body: JSON.stringify({ messageId, userId, event }),
        }).then(({ status }) => status),
      (answered) => answered === 200,
    );
    assert.equal(answer, 200);
  };
  const arrived = (event: string) =>
    receiver.find(({ json }) => (json() as { event?: string }).event === event);
  /** Sends events until the history shows `outcome` for one: a change is in effect in the router soon after its answer. */
  const untilDecided = async (event: string, outcome: string, userId?: string) => {
    let count = 0;
    return eventually(
      async () => {
        const id = `${event}-${count++}`;
        await send(id, event, userId);
        return eventually(
          () => control.expect(200, { path: `/v1/events/${id}` }),
          (found) => ['filtered', 'routed', 'no-destination'].includes(String(found['outcome'])),
        );
      },
      (found) => found['outcome'] === outcome,
    );
  };

  await t.test('a filter is set, shown and removed', async () => {
    const filter = { events: { include: ['Order *'] } };
    const shown = await control.expect(200, { method: 'PATCH', path: at, body: { filter } });
    assert.deepEqual(shown['filter'], filter);
    const found = await untilDecided('Debug', 'filtered');
    assert.match(JSON.stringify(found), /"filter"/);
    await send('order-1', 'Order Completed');
    await arrived('Order Completed');
    await control.expect(200, { method: 'PATCH', path: at, body: { filter: null } });
    assert.equal((await control.expect(200, { path: at }))['filter'], undefined);
    await untilDecided('Debug again', 'routed');
  });

  await t.test('a filter is tried on a call before it is saved', async () => {
    const filter = { condition: { field: 'properties.total', atLeast: 100 } };
    const tryOn = (total: number) => {
      const call = { type: 'track', userId: 'ada', event: 'Order Completed', properties: { total } };
      return control.expect(200, { method: 'POST', path: `${at}/filter/test`, body: { filter, call } });
    };
    assert.equal((await tryOn(100))['passes'], true);
    const refused = await tryOn(99);
    assert.equal(refused['passes'], false);
    assert.match(JSON.stringify(refused['rule']), /properties\.total/);
  });

  await t.test(
    'a creating call that is repeated with its key is executed once, and calls are limited',
    async () => {
      const create = (name: string) =>
        control.ask({
          method: 'POST',
          path: '/v1/sources',
          body: { id: 'once', name },
          headers: { 'idempotency-key': 'create-once' },
        });
      const [first, again, other] = [await create('Once'), await create('Once'), await create('Other')];
      assert.deepEqual([first.status, again.status, other.status], [201, 201, 422]);
      assert.deepEqual(again.json, first.json);
      assert.match(first.headers.get('ratelimit') ?? '', /r=\d+/);
      assert.match(first.headers.get('ratelimit-policy') ?? '', /q=\d+/);
      await control.expect(204, { method: 'DELETE', path: '/v1/sources/once' });
    },
  );

  await t.test('a destination is paused and resumed', async () => {
    await control.expect(200, { method: 'POST', path: `${at}/pause` });
    assert.equal((await control.expect(200, { path: at }))['paused'], true);
    await control.expect(200, { method: 'POST', path: `${at}/resume` });
    assert.notEqual((await control.expect(200, { path: at }))['paused'], true);
    await send('resumed-1', 'After the pause');
    await arrived('After the pause');
  });

  await t.test('a secret is rotated', async () => {
    const rotated = await control.expect(200, { method: 'POST', path: `${at}/rotate-secret` });
    assert.ok(typeof rotated['sharedSecret'] === 'string' && rotated['sharedSecret'] !== '********');
    const shown = (await control.expect(200, { path: at }))['settings'] as Record<string, unknown>;
    assert.deepEqual([shown['sharedSecret'], shown['previousSharedSecret']], ['********', '********']);
    assert.equal(shown['previousSharedSecretUntil'], rotated['previousSharedSecretUntil']);
  });

  await t.test('a token is created, used and revoked, and the audit log has the changes', async () => {
    const wanted = { name: 'dashboard', scope: 'read', expiresIn: '1h' };
    const created = await control.expect(201, { method: 'POST', path: '/v1/tokens', body: wanted });
    const token = String(created['token']);
    await control.expect(200, { path: '/v1/sources', token });
    await control.expect(403, { method: 'POST', path: `${at}/pause`, token });
    await control.expect(204, { method: 'DELETE', path: `/v1/tokens/${String(created['id'])}` });
    // By both instances.
    await control.expect(401, { path: '/v1/sources', token });
    await control.expect(401, { path: '/v1/sources', token });
    const expected = [
      'source.create',
      'destination.update',
      'destination.pause',
      'token.create',
      'token.revoke',
    ];
    // Each instance writes what it has changed a moment after its answer.
    const { items } = await eventually(
      () => control.expect(200, { path: '/v1/audit?limit=200' }),
      ({ items }) => {
        const actions = new Set((items as { action: string }[]).map(({ action }) => action));
        return expected.every((action) => actions.has(action));
      },
    );
    assert.ok(!JSON.stringify(items).includes(token));
  });

  await t.test('a change is reported to a destination of the built-in source', async () => {
    await control.expect(200, { method: 'PUT', path: `${at}/sources/tailrace` });
    let changes = 0;
    // The router knows the connection soon after its answer.
    await eventually(
      async () => {
        const name = `Change ${(changes += 1)}`;
        await control.expect(200, { method: 'PATCH', path: '/v1/sources/shop', body: { name } });
        return receiver.requests.map(({ body }) => body.toString()).filter((body) => body.includes('"shop"'));
      },
      (bodies) => bodies.some((body) => body.includes('"config.changed"')),
    );
    await control.expect(200, { method: 'DELETE', path: `${at}/sources/tailrace` });
  });

  await t.test('a user is suppressed, and no longer', async () => {
    const userIds = ['grace'];
    await control.expect(200, { method: 'POST', path: '/v1/suppressions', body: { userIds } });
    const one = '/v1/suppressions/grace';
    assert.equal((await control.expect(200, { path: one }))['userId'], 'grace');
    const found = await untilDecided('Unwanted', 'filtered', 'grace');
    assert.match(JSON.stringify(found), /"suppressed"/);
    await control.expect(204, { method: 'DELETE', path: one });
    await control.expect(404, { path: one });
    await untilDecided('Wanted again', 'routed', 'grace');
  });

  await t.test('dead letters are replayed, and any instance knows the replay', async () => {
    isAccepting = false;
    await send('dead-1', 'Refused');
    const dead = `/v1/dead-letters?destination=erp&reason=client-error`;
    await shownByBoth(dead, hasItems);
    isAccepting = true;
    const order = { destination: 'erp', reason: 'client-error' };
    const replay = await control.expect(202, { method: 'POST', path: '/v1/replays', body: order });
    const ended = await eventually(
      () => control.expect(200, { path: `/v1/replays/${String(replay['id'])}` }),
      ({ state }) => state === 'done',
    );
    assert.equal(ended['replayed'], 1);
    await receiver.waitFor(
      (all) =>
        all.filter(({ json }) => (json() as { messageId?: string; event?: string }).event === 'Refused')
          .length === 2,
    );
  });

  await t.test('a delivery is sent again, and the failures of a destination are recovered', async () => {
    const receivedOf = (event: string): number =>
      receiver.requests.filter(({ json }) => (json() as { event?: string }).event === event).length;
    const listed = await shownByBoth('/v1/deliveries?event=After%20the%20pause&status=delivered', hasItems);
    const [delivered] = listed['items'] as { deliveryId: string }[];
    const resend = `/v1/deliveries/${delivered?.deliveryId ?? ''}/resend`;
    await control.expect(202, { method: 'POST', path: resend });
    await receiver.waitFor(() => receivedOf('After the pause') === 2);

    isAccepting = false;
    await send('dead-2', 'Failed');
    await shownByBoth('/v1/deliveries?event=Failed&status=dead', hasItems);
    isAccepting = true;
    const since = { since: '1h' };
    const recovery = await control.expect(202, { method: 'POST', path: `${at}/recover`, body: since });
    await receiver.waitFor(() => receivedOf('Failed') === 2);
    await eventually(
      () => control.expect(200, { path: `/v1/replays/${String(recovery['id'])}` }),
      ({ state }) => state === 'done',
    );
  });

  await t.test(
    'a new destination gets events from before, once, and again only with the mode all',
    async () => {
      await using late = await startReceiver();
      const body = {
        id: 'late',
        type: 'Webhooks',
        sources: ['shop'],
        settings: { webhooks: [{ url: late.url }] },
      };
      await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
      const order = { kind: 'events', destination: 'late', from: '1h', events: ['Order Completed'] };
      const replayed = async (more: object = {}) => {
        const request = { method: 'POST', path: '/v1/replays', body: { ...order, ...more } } as const;
        const { id } = await control.expect(202, request);
        const ended = await eventually(
          () => control.expect(200, { path: `/v1/replays/${String(id)}` }),
          ({ endedAt }) => endedAt !== undefined,
        );
        return [ended['state'], ended['due'], ended['replayed']];
      };
      assert.deepEqual(await replayed({ dryRun: true }), ['done', 1, 0]);
      assert.deepEqual(await replayed(), ['done', 1, 1]);
      const [first] = await late.waitFor(1);
      assert.deepEqual(await replayed(), ['done', 0, 0]);
      assert.deepEqual(await replayed({ mode: 'all' }), ['done', 1, 1]);
      const [, again] = await late.waitFor(2);
      const original = receiver.requests.find(({ body }) => body.toString().includes('Order Completed'));
      assert.deepEqual([first?.body, again?.body], [original?.body, original?.body]);
      const deliveries = '/v1/deliveries?destination=late&status=delivered';
      const shown = await shownByBoth(deliveries, ({ items }) => (items as unknown[]).length === 2);
      const ids = (shown['items'] as { deliveryId: string }[]).map(({ deliveryId }) => deliveryId);
      assert.equal(new Set(ids).size, 2);
      // Those of another destination had been delivered, so nothing is missing there.
      assert.deepEqual(await replayed({ destination: 'erp' }), ['done', 0, 0]);
      await control.expect(204, { method: 'DELETE', path: '/v1/destinations/late' });
    },
  );

  await t.test('the attempts of a destination are counted, and its failures have reasons', async () => {
    await shownByBoth(`${at}/stats`, (stats) => /"delivered":[1-9]/.test(JSON.stringify(stats)));
    await shownByBoth(`${at}/failures`, (failures) => JSON.stringify(failures).includes('client-error'));
  });

  await t.test('a deletion is requested and lifted', async () => {
    const requestId = 'verbs-1';
    const wanted = { requestId, userIds: ['mary'], sources: ['shop'] };
    await control.expect(202, { method: 'POST', path: '/v1/deletions', body: wanted });
    await control.expect(200, { method: 'POST', path: '/v1/deletions', body: wanted });
    const deletion = `/v1/deletions/${requestId}`;
    await eventually(
      () => control.expect(200, { path: deletion }),
      ({ state }) => state === 'sent',
    );
    await receiver.find(({ json }) => (json() as { type?: string }).type === 'delete');
    const lifted = await control.expect(200, { method: 'POST', path: `${deletion}/lift` });
    assert.ok(lifted['liftedAt']);
    assert.ok((await control.expect(200, { path: deletion }))['liftedAt']);
  });
});
