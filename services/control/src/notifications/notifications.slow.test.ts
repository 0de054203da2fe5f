/** Notifications on an in-memory cluster, to real receivers on loopback: told once by all instances, and over once. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { builtInSource } from '@tailrace/config';
import type { MemoryCluster } from '@tailrace/kafka/testing';
import { verifySignature } from '@tailrace/signing';
import { eventually } from '@tailrace/testing';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { ControlChanges } from '../open.ts';
import { names, newCluster, openApi, readToken, type Api } from '../testing/api.ts';
import { createFlow } from '../testing/flow.ts';

type Body = Readonly<Record<string, unknown>>;

interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: string;
  readonly body: Body;
}

interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
  answer: (response: ServerResponse, request: Received) => void;
}

async function openReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    void textOf(request).then((bytes) => {
      const { url = '', headers } = request;
      const received = { path: url, headers, bytes, body: JSON.parse(bytes) as Body };
      receiver.received.push(received);
      receiver.answer(response, received);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    answer: (response) => void response.end('ok'),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

const loopback = { TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8' };
const pace = { everyMs: 10, gatherMs: 20, intervalMs: 20, retryAfterMs: [1, 1] };
const open = (
  cluster: MemoryCluster = newCluster(),
  env: Readonly<Record<string, string>> = loopback,
  changes: ControlChanges = {},
): Promise<Api> => openApi(cluster, env, { notifications: pace, ...changes });

const create = (api: Api, body: object) =>
  api.expect(201, { method: 'POST', path: '/v1/notifications', body });
const enable = (api: Api, id: string, enabled: boolean) =>
  api.expect(200, { method: 'PATCH', path: `/v1/destinations/${id}`, body: { enabled } });

async function createDestinations(api: Api, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const settings = { webhooks: [{ url: `https://${id}.example.com/` }] };
    const body = { id, type: 'Webhooks', sources: [], settings };
    await api.expect(201, { method: 'POST', path: '/v1/destinations', body });
  }
}

/** All attempts of a destination fail for 13 minutes. */
async function fail(api: Api, id: string): Promise<void> {
  const flow = createFlow(api.kafka);
  for (const agoMs of [800_000, 700_000, 1_000]) {
    const startedAt = new Date(Date.now() - agoMs).toISOString();
    await flow.attempt(flow.delivery(id), 'retry', { reason: 'timeout', startedAt });
  }
}

async function succeed(api: Api, id: string): Promise<void> {
  const flow = createFlow(api.kafka);
  for (let nth = 0; nth < 3; nth += 1) await flow.attempt(flow.delivery(id), 'delivered');
}

async function statusOf(api: Api, id: string): Promise<Body> {
  const { items } = await api.expect(200, { path: '/v1/notification-status', token: readToken });
  return (items as Body[]).find((one) => one['id'] === id) ?? {};
}

const textsOf = (list: unknown): unknown[] => (list as Body[]).map(({ text }) => text);
const told = (receiver: Receiver) =>
  receiver.received.map(({ body }) => [textsOf(body['opened']).length, textsOf(body['over']).length]);

describe('a destination that fails', () => {
  test('is told once by two instances, not again after a restart, and once when it has recovered', async () => {
    await using receiver = await openReceiver();
    const cluster = newCluster();
    {
      await using api = await open(cluster);
      await using other = await open(cluster);
      await createDestinations(api, 'crm');
      await create(api, { id: 'hook', webhook: { url: receiver.url } });
      await fail(other, 'crm');
      await eventually(async () => (await statusOf(other, 'hook'))['openCount'] === 1);
      await api.turns(20);
      await other.turns(20);
    }
    assert.deepEqual(told(receiver), [[1, 0]]);
    assert.match(
      String(textsOf(receiver.received[0]?.body['opened'])[0]),
      /^crm has been failing since .* UTC: timeout$/,
    );
    await using api = await open(cluster);
    await api.historyRead();
    await succeed(api, 'crm');
    await eventually(async () => (await statusOf(api, 'hook'))['openCount'] === 0);
    await eventually(() => receiver.received.length > 1);
    await api.turns(20);
    assert.deepEqual(told(receiver), [
      [1, 0],
      [0, 1],
    ]);
    assert.deepEqual(textsOf(receiver.received[1]?.body['over']), ['crm has recovered']);
  });

  test('has not recovered where the notification does not tell of it any more', async () => {
    await using receiver = await openReceiver();
    await using api = await open();
    await createDestinations(api, 'crm');
    await create(api, { id: 'hook', webhook: { url: receiver.url } });
    await fail(api, 'crm');
    await eventually(async () => (await statusOf(api, 'hook'))['openCount'] === 1);
    const change = { method: 'PATCH', path: '/v1/notifications/hook' } as const;
    await api.expect(200, { ...change, body: { events: ['source.silent'] } });
    const key = 'told/hook/destination.failing/crm';
    await eventually(() =>
      api.cluster
        .records(names.destinationsHealth)
        .some((record) => String(record.key) === key && record.value === null),
    );
    assert.deepEqual(told(receiver), [[1, 0]]);
  });

  for (const { how, stop, start } of [
    { how: 'disabled', stop: { enabled: false }, start: { enabled: true } },
    { how: 'paused', stop: { paused: true }, start: { paused: null } },
  ]) {
    test(`is not failing while it is ${how}, and has to fail anew for it afterwards`, async () => {
      await using receiver = await openReceiver();
      await using api = await open();
      await createDestinations(api, 'crm');
      await create(api, { id: 'hook', events: ['destination.failing'], webhook: { url: receiver.url } });
      await fail(api, 'crm');
      await eventually(async () => (await statusOf(api, 'hook'))['openCount'] === 1);
      const change = (body: object) =>
        api.expect(200, { method: 'PATCH', path: '/v1/destinations/crm', body });
      await change(stop);
      await eventually(() => receiver.received.length === 2);
      await change(start);
      await api.turns(20);
      assert.deepEqual(told(receiver), [
        [1, 0],
        [0, 1],
      ]);
      assert.deepEqual(textsOf(receiver.received[1]?.body['over']), [`crm was failing and is ${how}`]);
      await fail(api, 'crm');
      await eventually(() => receiver.received.length === 3);
      assert.equal(textsOf(receiver.received[2]?.body['opened']).length, 1);
    });
  }

  test('is one of many in one message where many fail together', async () => {
    await using receiver = await openReceiver();
    await using api = await open();
    const ids = Array.from({ length: 30 }, (_, index) => `d${index}`);
    await createDestinations(api, ...ids, 'hook');
    // Watched, so that all are known to fail before the notification exists.
    await api.expect(200, { method: 'PUT', path: `/v1/destinations/hook/sources/${builtInSource.id}` });
    for (const id of ids) await fail(api, id);
    const failing = () =>
      api.cluster.records(names.events).filter(({ value }) => String(value).includes('destination.failing'));
    await eventually(() => failing().length === ids.length);
    await create(api, { id: 'all', webhook: { url: receiver.url } });
    await eventually(async () => (await statusOf(api, 'all'))['openCount'] === ids.length);
    assert.deepEqual(
      receiver.received.map(({ body }) => body['openedCount']),
      [ids.length],
    );
  });

  test('is told by another instance where one has begun and ended', async () => {
    await using receiver = await openReceiver();
    const cluster = newCluster();
    await using api = await open(cluster, loopback, { notifications: { ...pace, leaseMs: 50 } });
    const claimed = { state: 'sending', claim: 'of an instance that has ended' };
    const record = { topic: names.destinationsHealth, partition: 0, key: 'notification/hook' };
    await api.kafka.publisher().publish({ ...record, value: JSON.stringify(claimed) });
    await createDestinations(api, 'crm');
    await create(api, { id: 'hook', events: ['destination.failing'], webhook: { url: receiver.url } });
    await fail(api, 'crm');
    await eventually(() => receiver.received.length === 1);
  });
});

describe('a receiver', () => {
  test('of PagerDuty gets a trigger, and a resolve with the same key; Slack gets a text; both link to the console', async () => {
    await using receiver = await openReceiver();
    const consoleUrl = 'https://tailrace.example.com/';
    await using api = await open(undefined, { ...loopback, TAILRACE_CONTROL_PUBLIC_URL: consoleUrl });
    await createDestinations(api, 'crm');
    const routingKey = 'R0123456789';
    await create(api, { id: 'pd', webhook: { format: 'pagerduty', url: `${receiver.url}/pd`, routingKey } });
    await create(api, { id: 'chat', webhook: { format: 'slack', url: `${receiver.url}/slack` } });
    await enable(api, 'crm', false);
    const of = (way: string) => receiver.received.filter((one) => one.path === way).map(({ body }) => body);
    await eventually(() => of('/pd').length === 1 && of('/slack').length === 1);
    await eventually(async () => (await statusOf(api, 'pd'))['openCount'] === 1);
    await eventually(async () => (await statusOf(api, 'chat'))['openCount'] === 1);
    await enable(api, 'crm', true);
    await eventually(() => of('/pd').length === 2 && of('/slack').length === 2);
    const [trigger = {}, resolve = {}] = of('/pd');
    assert.deepEqual(
      [trigger, resolve].map((body) => [body['routing_key'], body['event_action']]),
      [
        [routingKey, 'trigger'],
        [routingKey, 'resolve'],
      ],
    );
    assert.equal(trigger['dedup_key'], resolve['dedup_key']);
    assert.partialDeepStrictEqual(trigger['payload'], {
      source: 'tailrace',
      component: 'crm',
      severity: 'error',
    });
    const page = `${consoleUrl}#/destinations/crm`;
    assert.equal(trigger['client_url'], `${consoleUrl}#/notifications/pd`);
    assert.equal((trigger['links'] as Body[])[0]?.['href'], page);
    const slack = String(of('/slack')[0]?.['text']);
    assert.match(slack, /^\*crm was disabled at .*\n• Open now: 1 </s);
    assert.ok(slack.includes(`<${page}|View>`), slack);
    assert.match(String(of('/slack')[1]?.['text']), /^\*crm is enabled again\*/);
  });

  test('that is a destination gets a signed webhook, and none while it is disabled', async () => {
    await using receiver = await openReceiver();
    await using api = await open();
    const settings = { sharedSecret: 's3cret', webhooks: [{ url: receiver.url }] };
    const pager = { id: 'pager', type: 'Webhooks', sources: [], settings };
    await api.expect(201, { method: 'POST', path: '/v1/destinations', body: pager });
    await createDestinations(api, 'crm');
    await create(api, { id: 'hook', destinations: ['crm'], destination: 'pager' });
    await enable(api, 'crm', false);
    await eventually(() => receiver.received.length > 0);
    const [first] = receiver.received;
    assert.ok(first);
    const { body, bytes, headers } = first;
    assert.deepEqual(
      [body['type'], body['event'], body['anonymousId']],
      ['track', 'notification', 'tailrace'],
    );
    assert.equal((body['properties'] as Body)['openedCount'], 1);
    assert.ok(verifySignature('s3cret', bytes, String(headers['x-signature'])));
    await enable(api, 'pager', false);
    const test = await api.expect(200, { method: 'POST', path: '/v1/notifications/hook/test' });
    assert.deepEqual(test, { accepted: false, reason: 'the destination pager is disabled' });
  });

  test('that fails is tried three times, is shown as failed, and is told later what is still open', async () => {
    await using receiver = await openReceiver();
    receiver.answer = (response) => void response.writeHead(500).end();
    await using api = await open();
    await createDestinations(api, 'crm');
    await create(api, { id: 'hook', webhook: { url: receiver.url } });
    await enable(api, 'crm', false);
    const failed = await eventually(
      () => statusOf(api, 'hook'),
      ({ state }) => state === 'failed',
    );
    assert.ok(receiver.received.length >= 3);
    assert.match(String(failed['reason']), /^server-error 500/);
    receiver.answer = (response) => void response.end();
    await eventually(async () => (await statusOf(api, 'hook'))['openCount'] === 1);
    assert.partialDeepStrictEqual(await statusOf(api, 'hook'), { state: 'sent' });
  });

  test('that never answers delays no other one', async () => {
    await using silent = await openReceiver();
    silent.answer = () => undefined;
    await using receiver = await openReceiver();
    const onlyOnce = { ...pace, retryAfterMs: [] };
    const env = { ...loopback, TAILRACE_DELIVERY_TIMEOUT: '1s' };
    await using api = await open(undefined, env, { notifications: onlyOnce });
    await createDestinations(api, 'crm');
    await create(api, { id: 'hung', webhook: { url: silent.url } });
    await create(api, { id: 'well', webhook: { url: receiver.url } });
    await enable(api, 'crm', false);
    await eventually(() => receiver.received.length > 0 && silent.received.length > 0);
    await eventually(async () => (await statusOf(api, 'hung'))['state'] === 'failed');
  });

  test('at a private address is not reached, over HTTP or SMTP', async () => {
    await using receiver = await openReceiver();
    await using api = await open(undefined, {});
    await create(api, { id: 'hook', webhook: { url: receiver.url } });
    const server = receiver.url.replace('http', 'smtp');
    await create(api, {
      id: 'mail',
      email: { to: ['ops@example.com'], from: 'tailrace@example.com', server },
    });
    for (const id of ['hook', 'mail']) {
      const { accepted, reason } = await api.expect(200, {
        method: 'POST',
        path: `/v1/notifications/${id}/test`,
      });
      assert.equal(accepted, false);
      assert.match(String(reason), /^address-not-allowed/);
    }
    assert.deepEqual(receiver.received, []);
  });
});

interface Mail {
  readonly to: readonly string[];
  readonly user: string | undefined;
  readonly text: string;
}

async function openMailServer(options: SMTPServerOptions) {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    onAuth({ username, password }, _session, callback) {
      if (password === 's3cret') callback(null, { user: username });
      else callback(new Error('wrong password'));
    },
    onData(stream, { envelope, user }, callback) {
      void textOf(stream).then((text) => {
        mails.push({
          to: envelope.rcptTo.map(({ address }) => address),
          user: user as string | undefined,
          text,
        });
        callback();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    mails,
    port: (server.server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => {
        server.close(resolve);
      });
    },
  };
}

const { certificate: cert, key } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'smtp.fixtures.json'), 'utf8'),
) as { certificate: string; key: string };
const mailTo = { to: ['ops@example.com', 'dev@example.com'], from: 'tailrace@example.com' };

describe('a mail server', () => {
  test('gets one message for all recipients, over TLS with a password', async () => {
    await using starttls = await openMailServer({ cert, key });
    await using tls = await openMailServer({ cert, key, secure: true });
    await using api = await open(undefined, loopback, { authorities: [cert] });
    await createDestinations(api, 'crm');
    const login = { user: 'tailrace', password: 's3cret' };
    for (const [id, scheme, { port }] of [
      ['starttls', 'smtp', starttls],
      ['tls', 'smtps', tls],
    ] as const) {
      await create(api, { id, email: { ...mailTo, server: `${scheme}://localhost:${port}`, ...login } });
    }
    await enable(api, 'crm', false);
    for (const { mails } of [starttls, tls]) {
      await eventually(() => mails.length === 1);
      assert.deepEqual([mails[0]?.to, mails[0]?.user], [mailTo.to, 'tailrace']);
      assert.match(mails[0]?.text ?? '', /^Subject: \[Tailrace\] crm was disabled at /m);
    }
  });

  test('that is not trusted, offers no TLS or refuses the password gets no message, and no password in plain text', async () => {
    await using untrusted = await openMailServer({ cert, key, secure: true });
    await using plain = await openMailServer({ disabledCommands: ['STARTTLS'], authOptional: true });
    await using refusing = await openMailServer({ cert, key });
    await using api = await open(undefined, loopback);
    await using trusting = await open(undefined, loopback, { authorities: [cert] });
    const test = async (from: Api, id: string, email: object): Promise<string> => {
      await create(from, { id, email: { ...mailTo, ...email } });
      const answer = await from.expect(200, { method: 'POST', path: `/v1/notifications/${id}/test` });
      return answer['accepted'] === true ? 'accepted' : String(answer['reason']);
    };
    const secure = `smtps://localhost:${untrusted.port}`;
    assert.match(await test(api, 'untrusted', { server: secure }), /self-signed certificate/);
    const open_ = `smtp://127.0.0.1:${plain.port}`;
    const login = { user: 'tailrace', password: 'wrong' };
    assert.match(await test(trusting, 'plain', { server: open_, ...login }), /STARTTLS|TLS/);
    assert.equal(await test(trusting, 'open', { server: open_ }), 'accepted');
    const reason = await test(trusting, 'refused', { server: `smtp://localhost:${refusing.port}`, ...login });
    assert.match(reason, /^the mail server answered: .*wrong password/);
    assert.deepEqual([untrusted.mails, plain.mails.length, refusing.mails], [[], 1, []]);
  });
});

describe('an entry', () => {
  test('has its secrets sealed in Kafka and masked in answers, logs and the audit log; a mask keeps them', async () => {
    await using api = await open();
    const url = 'https://hooks.slack.com/services/T0/B0/s3cret-token';
    const created = await create(api, { id: 'chat', webhook: { format: 'slack', url } });
    assert.deepEqual(created['webhook'], { format: 'slack', url: 'https://hooks.slack.com/********' });
    await api.expect(200, { method: 'PATCH', path: '/v1/notifications/chat', body: { name: 'Chat' } });
    const path = '/v1/notifications/chat';
    const moved = { webhook: { url: 'https://evil.example.com/********' } };
    await api.refused({ method: 'PATCH', path, body: moved }, 400, 'invalid-configuration');
    const records = [names.config, names.audit].flatMap((topic) => api.cluster.records(topic));
    const text = JSON.stringify([records.map(({ value }) => String(value)), api.log]);
    assert.match(text, /sealed:v1:/);
    assert.doesNotMatch(text, /s3cret-token/);
    assert.deepEqual((await api.expect(200, { path, token: readToken }))['name'], 'Chat');
    assert.doesNotMatch((await api.ask({ path: '/v1/notifications' })).text, /s3cret-token/);
  });

  test('names what exists, one channel, and all that it needs', async () => {
    await using api = await open();
    const email = { to: ['ops@example.com'], from: 'a@example.com', server: 'smtps://smtp.example.com' };
    const url = 'https://example.com/';
    for (const [body, problem] of [
      [{}, /needs one of destination, webhook, email/],
      [{ webhook: { url }, email }, /needs one of/],
      [{ destination: 'nothing' }, /destination: there is no destination "nothing"/],
      [{ sources: ['nothing'], webhook: { url } }, /sources\[0\]: there is no source "nothing"/],
      [{ webhook: { format: 'pagerduty' } }, /webhook\.routingKey: is missing/],
      [{ webhook: { url, routingKey: 'key' } }, /webhook\.routingKey: is only used with/],
      [{ webhook: { format: 'slack' } }, /webhook\.url: is missing/],
      [{ email: { ...email, user: 'a' } }, /has only one of user and password/],
      [{ email: { ...email, server: 'smtp.example.com' } }, /email\.server: is not the address/],
      [{ email: { ...email, to: ['a@b@c'] } }, /email\.to\[0\]: is not an email address/],
      [{ webhook: { url }, silentAfter: '1m' }, /silentAfter: is not a duration/],
      [{ webhook: { url }, events: ['other'] }, /events\[0\]: is not one of/],
    ] as const) {
      const request = { method: 'POST', path: '/v1/notifications', body } as const;
      assert.match(
        (await api.refused(request, 400, 'invalid-configuration')).text.replaceAll('\\"', '"'),
        problem,
      );
    }
  });
});
