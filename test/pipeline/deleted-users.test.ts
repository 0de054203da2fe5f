/**
 * Deletion, suppression and operational events through all four services: a deleted user is not sent again by a retry, a replay or an
 * audience; a suppressed user's calls are refused; a chat hook hears that a receiver is down and that it has recovered.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { eventually } from '@tailrace/testing';
import { closedGate } from '../support/receivers/answers.ts';
import { tailrace } from '../support/processes/cli.ts';
import { adminToken, secretKey, startControlHere } from '../support/processes/control.ts';
import { startPipeline } from '../support/processes/pipeline.ts';
import * as answers from '../support/receivers/answers.ts';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const cluster = new MemoryCluster();
const retrySchedule = '20ms,20ms';
const pipeline = opened.use(
  await startPipeline({
    cluster,
    retrySchedule,
    retryWindow: '10m',
    deliveryTimeout: '2m',
    env: { TAILRACE_SECRET_KEY: secretKey },
  }),
);
const prefix = pipeline.names.events.replace(/events$/, '');
const control = opened.use(
  await startControlHere(cluster, prefix, {
    TAILRACE_RETRY_SCHEDULE: retrySchedule,
    TAILRACE_FAILING_AFTER: '100ms',
  }),
);
const env = {
  KAFKA_BROKERS: 'memory:9092',
  TAILRACE_TOPIC_PREFIX: prefix,
  TAILRACE_URL: control.url,
  TAILRACE_API_TOKEN: adminToken,
};

async function command(...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await tailrace(args, env, '', cluster);
  assert.equal(exitCode, 0, `tailrace ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** The bodies that a receiver has accepted or refused, as `<type> <event or user>`. */
const heard = ({ requests }: Receiver): string[] =>
  requests.map(({ body }) => {
    const { type, event, userId } = JSON.parse(body.toString()) as Record<string, string>;
    return `${type ?? ''} ${event ?? userId ?? ''}`;
  });

test('the earlier events of a deleted user are sent by no retry, replay or audience', async () => {
  const gate = closedGate();
  const answerTo: Readonly<Record<string, answers.Answer>> = {
    Refused: answers.status(400),
    Retried: gate.answer(answers.status(503)),
  };
  await using receiver = await startReceiver({
    answer: ({ json }) => answerTo[(json() as { event?: string }).event ?? ''] ?? answers.status(200),
  });
  const { sourceId, destinationId, send } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  await send('track', { userId: 'ada', event: 'Refused' });
  await pipeline.deadLetter(destinationId);
  const audience = `/v1/sources/${sourceId}/audiences/All`;
  const upload = async (...userIds: readonly string[]) => {
    const headers = { 'content-type': 'application/x-ndjson' };
    const bytes = userIds.map((id) => `"${id}"\n`).join('');
    await control.expect(202, { method: 'PUT', path: audience, bytes, headers });
    await eventually(
      () => control.expect(200, { path: audience }),
      ({ sync }) => (sync as { state: string }).state === 'done',
    );
  };
  await upload('ada', 'bob');
  await eventually(
    () => heard(receiver),
    (all) => all.includes('identify ada') && all.includes('identify bob'),
  );
  await send('track', { userId: 'ada', event: 'Retried' });
  await eventually(
    () => heard(receiver),
    (all) => all.includes('track Retried'),
  );

  await command('user', 'delete', 'ada', '--source', sourceId, '--request', 'gdpr-1', '--yes');
  await eventually(
    () => heard(receiver),
    (all) => all.includes('delete ada'),
  );
  gate.open();
  await eventually(
    () => pipeline.deliveriesIn(pipeline.names.deliveriesDead, destinationId),
    (letters) => letters.some(({ reason, body }) => reason === 'user-deleted' && body.length === 0),
  );
  const { length } = receiver.requests;
  await command('dead', 'replay', '--destination', destinationId, '--reason', 'client-error');
  await upload('bob');
  await eventually(
    () => pipeline.deliveriesIn(pipeline.names.deliveriesDead, destinationId),
    (letters) => letters.filter(({ reason }) => reason === 'user-deleted').length === 2,
  );
  // A new call is sent: she is deleted, not suppressed.
  await send('track', { userId: 'ada', event: 'Later' });
  await eventually(
    () => heard(receiver),
    (all) => all.includes('track Later'),
  );
  assert.deepEqual(heard(receiver).slice(length), ['track Later']);

  await command('user', 'undelete', 'gdpr-1');
  assert.match(await command('get', 'deletion', 'gdpr-1'), /Lifted at/);
});

test('5.8 calls of a suppressed user go to no destination until the suppression is lifted, and why shows it', async () => {
  await using receiver = await startReceiver();
  const { send } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  assert.match(await command('user', 'suppress', 'eve'), /Suppressed 1 user\./);
  assert.match(await command('get', 'suppressions'), /eve/);
  // The router follows the topic: the suppression is in force soon.
  let calls = 0;
  await eventually(
    async () => {
      const messageId = `suppressed-${(calls += 1)}`;
      await send('track', { userId: 'eve', event: 'Refused', messageId });
      const { text } = await eventually(
        () => control.ask({ path: `/v1/events/${messageId}` }),
        ({ status, text }) => status === 200 && /"suppressed"|"delivered"/.test(text),
      );
      return text;
    },
    (text) => text.includes('"suppressed"'),
  );
  const { length } = receiver.requests;
  assert.match(await command('user', 'unsuppress', 'eve'), /Lifted/);
  await eventually(
    async () => {
      await send('track', { userId: 'eve', event: 'Accepted' });
      return receiver.requests.length;
    },
    (count) => count > length,
  );
});

test('a chat hook hears that a receiver is down and that it has recovered, and not about itself', async () => {
  let isDown = true;
  let isHookDown = true;
  await using receiver = await startReceiver({ answer: () => answers.status(isDown ? 500 : 200) });
  await using hook = await startReceiver({ answer: () => answers.status(isHookDown ? 500 : 200) });
  const { destinationId, send } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  const settings = { webhooks: [{ url: hook.url }] };
  const chat = { id: 'chat', type: 'Webhooks', sources: ['tailrace'], settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body: chat });
  // The router reads the configuration after the API has answered, and an event of before goes to nobody.
  let names = 0;
  await eventually(
    async () => {
      const body = { name: `Chat ${(names += 1)}` };
      await control.expect(200, { method: 'PATCH', path: '/v1/destinations/chat', body });
      return hook.requests.length;
    },
    (count) => count > 0,
  );
  const ofReceiver = (name: string) =>
    hook.requests
      .map(
        ({ body }) => JSON.parse(body.toString()) as { event: string; properties: Record<string, unknown> },
      )
      .filter(({ event, properties }) => event === name && properties['destinationId'] === destinationId);
  let calls = 0;
  const sendUntil = (name: string) =>
    eventually(
      async () => {
        await send('track', { userId: `u-${(calls += 1)}`, event: 'Order Completed' });
        return ofReceiver(name);
      },
      (found) => found.length > 0,
    );
  await sendUntil('destination.failing');
  isHookDown = false;
  isDown = false;
  const [recovered] = await sendUntil('destination.recovered');
  const [failing] = ofReceiver('destination.failing');
  assert.equal(recovered?.properties['failingSince'], failing?.properties['since']);
  const aboutItself = hook.requests.filter(({ body }) =>
    /destination\.failing.*"chat"/.test(body.toString()),
  );
  assert.deepEqual(aboutItself, [], 'its own failures are no event');
});
