/**
 * Deletion, suppression and operational events through all four services: a deleted user is not sent again by a retry, a replay or an
 * audience; a suppressed user's calls are refused; a chat hook hears that a receiver is down and that it has recovered.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sharedBroker } from '../support/kafka/broker.ts';
import { eventually } from '@tailrace/testing';
import { tailraceHere } from '../support/processes/cli.ts';
import { adminToken, secretKey, startControl } from '../support/processes/control.ts';
import { startPipeline } from '../support/processes/pipeline.ts';
import * as answers from '../support/receivers/answers.ts';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const { brokers } = await sharedBroker();
// The second retry is late enough for a command to run before it; on a busy machine it runs before a later one.
const retrySchedule = '1s,8s,8s,8s,8s,8s,8s';
const pipeline = opened.use(
  await startPipeline({
    retrySchedule,
    retryWindow: '3m',
    env: { TAILRACE_SECRET_KEY: secretKey },
  }),
);
const prefix = pipeline.names.events.replace(/events$/, '');
const control = opened.use(
  await startControl(brokers, prefix, {
    TAILRACE_RETRY_SCHEDULE: retrySchedule,
    TAILRACE_FAILING_AFTER: '2s',
  }),
);
const env = {
  ...{ KAFKA_BROKERS: brokers.join(','), TAILRACE_TOPIC_PREFIX: prefix },
  ...{ TAILRACE_URL: control.url, TAILRACE_API_TOKEN: adminToken },
};

async function command(...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await tailraceHere(args, env);
  assert.equal(exitCode, 0, `tailrace ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** The bodies that a receiver has accepted or refused, as `<type> <event or user>`. */
const heard = ({ requests }: Receiver): string[] =>
  requests.map(({ body }) => {
    const { type, event, userId } = JSON.parse(body.toString()) as Record<string, string>;
    return `${type ?? ''} ${event ?? userId ?? ''}`;
  });

const until = <T>(read: () => T | Promise<T>, holds: (value: T) => boolean) => eventually(read, holds);

test('the earlier events of a deleted user are sent by no retry, replay or audience', async () => {
  const code = { Refused: 400, Retried: 503 } as const;
  await using receiver = await startReceiver({
    answer: ({ body }) => {
      const { event } = JSON.parse(body.toString()) as { event?: keyof typeof code };
      return answers.status((event && code[event]) ?? 200);
    },
  });
  const { sourceId, destinationId, send } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  await send('track', { userId: 'ada', event: 'Refused' });
  await pipeline.deadLetter(destinationId);
  const audience = `/v1/sources/${sourceId}/audiences/All`;
  const upload = async (...userIds: readonly string[]) => {
    const headers = { 'content-type': 'application/x-ndjson' };
    const bytes = userIds.map((id) => `"${id}"\n`).join('');
    await control.expect(202, { method: 'PUT', path: audience, bytes, headers });
    await until(
      () => control.expect(200, { path: audience }),
      ({ sync }) => (sync as { state: string }).state === 'done',
    );
  };
  await upload('ada', 'bob');
  await until(
    () => heard(receiver),
    (all) => all.includes('identify ada') && all.includes('identify bob'),
  );
  await send('track', { userId: 'ada', event: 'Retried' });
  await until(
    () => heard(receiver),
    (all) => all.includes('track Retried'),
  );

  await command('user', 'delete', 'ada', '--source', sourceId, '--request', 'gdpr-1', '--yes');
  await until(
    () => pipeline.deliveriesIn(pipeline.names.deliveriesDead, destinationId),
    (letters) => letters.some(({ reason, body }) => reason === 'user-deleted' && body.length === 0),
  );
  await until(
    () => heard(receiver),
    (all) => all.includes('delete ada'),
  );
  const { length } = receiver.requests;
  await command('dead', 'replay', '--destination', destinationId, '--reason', 'client-error');
  await upload('bob');
  await until(
    () => pipeline.deliveriesIn(pipeline.names.deliveriesDead, destinationId),
    (letters) => letters.filter(({ reason }) => reason === 'user-deleted').length === 2,
  );
  // A new call is sent: she is deleted, not suppressed.
  await send('track', { userId: 'ada', event: 'Later' });
  await until(
    () => heard(receiver),
    (all) => all.includes('track Later'),
  );
  assert.deepEqual(heard(receiver).slice(length), ['track Later']);

  await command('user', 'undelete', 'gdpr-1');
  assert.match(await command('get', 'deletion', 'gdpr-1'), /Lifted at/);
});

test('calls of a suppressed user are refused until the suppression is lifted, and why shows it', async () => {
  await using receiver = await startReceiver();
  const { send } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  assert.match(await command('user', 'suppress', 'eve'), /Suppressed 1 user\./);
  assert.match(await command('get', 'suppressions'), /eve/);
  // The router follows the topic, so the suppression is in force within two seconds.
  await until(
    async () => {
      const messageId = `suppressed-${receiver.requests.length}-${performance.now()}`;
      await send('track', { userId: 'eve', event: 'Refused', messageId });
      const { text } = await until(
        () => control.ask({ path: `/v1/events/${messageId}` }),
        ({ status, text }) => status === 200 && /"suppressed"|"delivered"/.test(text),
      );
      return text;
    },
    (text) => text.includes('"suppressed"'),
  );
  const { length } = receiver.requests;
  assert.match(await command('user', 'unsuppress', 'eve'), /Lifted/);
  await until(
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
  const ofReceiver = (name: string) =>
    hook.requests
      .map(
        ({ body }) => JSON.parse(body.toString()) as { event: string; properties: Record<string, unknown> },
      )
      .filter(({ event, properties }) => event === name && properties['destinationId'] === destinationId);
  let calls = 0;
  const sendUntil = (name: string) =>
    until(
      async () => {
        await send('track', { userId: `u-${(calls += 1)}`, event: 'Order Completed' });
        await new Promise((resolve) => setTimeout(resolve, 200));
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
