/** Deliveries that a receiver refuses become dead letters, and `tailrace dead replay` delivers them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { applyConfiguration } from '@tailrace/config';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { sign } from '@tailrace/signing';
import { eventually } from '@tailrace/testing';
import { tailrace } from '../support/processes/cli.ts';
import { startPipeline } from '../support/processes/pipeline.ts';
import * as answers from '../support/receivers/answers.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const cluster = new MemoryCluster();
const pipeline = await startPipeline({
  cluster,
  retrySchedule: '20ms,20ms',
  retryWindow: '10m',
  deliveryTimeout: '2m',
});
after(() => pipeline[Symbol.asyncDispose]());
const env = {
  KAFKA_BROKERS: 'memory:9092',
  TAILRACE_TOPIC_PREFIX: pipeline.names.events.replace(/events$/, ''),
};

async function replay(destinationId: string): Promise<string> {
  const command = ['dead', 'replay', '--destination', destinationId, '--rate', '1000'];
  const { exitCode, stdout, stderr } = await tailrace(command, env, '', cluster);
  assert.equal(exitCode, 0, stderr);
  return stdout;
}

/** Resolves with the dead letters of the destination when there are at least `count`. */
function deadLetters(destinationId: string, count: number) {
  return eventually(
    () => pipeline.deliveriesIn(pipeline.names.deliveriesDead, destinationId),
    (letters) => letters.length >= count,
  );
}

test('3.6 9.7 a replay delivers a refused delivery once, with the same delivery id and bytes', async () => {
  let answer = answers.status(400);
  await using receiver = await startReceiver({ answer: () => answer });
  const { destinationId, send } = await pipeline.connect({
    webhooks: [{ url: receiver.url }],
    sharedSecret: 's3cret',
  });
  for (const event of ['One', 'Two', 'Three']) await send('track', { userId: 'ada', event });
  const letters = await deadLetters(destinationId, 3);
  const refused = [...receiver.requests];

  answer = answers.status(200);
  assert.equal(await replay(destinationId), '3 of 3 dead letters replayed.\n');
  assert.equal(
    await replay(destinationId),
    '0 of 0 dead letters replayed. 3 others had been replayed before.\n',
  );
  await receiver.waitFor(6);
  const replays = await pipeline.deliveriesIn(pipeline.names.deliveriesReplay, destinationId);
  assert.deepEqual(
    replays.map(({ deliveryId }) => deliveryId).sort(),
    letters.map(({ deliveryId }) => deliveryId).sort(),
  );
  const signed = (requests: typeof refused) =>
    requests.map(({ headers, body }) => `${headers['x-signature'] ?? ''} ${body.toString()}`).sort();
  const accepted = receiver.requests.slice(3);
  assert.deepEqual(signed(accepted), signed(refused));
  const { deliveryId, attempt } = await pipeline.attempt(destinationId, 'delivered');
  assert.equal(attempt, 1);
  assert.ok(letters.some((letter) => letter.deliveryId === deliveryId));

  // A later event arrives next, so no other request was pending.
  await send('track', { userId: 'ada', event: 'Four' });
  await receiver.waitFor(7);
  assert.equal(receiver.requests.length, 7);
});

test('a replay starts with all retries, and a delivery that fails again can be replayed again', async () => {
  let answer = answers.status(400);
  await using receiver = await startReceiver({ answer: () => answer });
  const { destinationId, send } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  await send('identify', { userId: 'ada', traits: { plan: 'free' } });
  const [first] = await deadLetters(destinationId, 1);

  answer = answers.status(503);
  await replay(destinationId);
  const again = (await deadLetters(destinationId, 2))[1];
  assert.equal(receiver.requests.length, 4);
  assert.deepEqual(
    [again?.deliveryId, again?.attempt, again?.reason],
    [first?.deliveryId, 3, 'attempts-exhausted'],
  );

  answer = answers.status(200);
  assert.equal(
    await replay(destinationId),
    '1 of 1 dead letter replayed. 1 other had been replayed before.\n',
  );
  await receiver.waitFor(5);
  await pipeline.attempt(destinationId, 'delivered');
  assert.deepEqual(receiver.requests.at(-1)?.body, receiver.requests[0]?.body);
});

test('6.10 a transform makes body, headers and URL, and where it fails the dead letter is replayed with the corrected one', async () => {
  await using first = await startReceiver();
  await using second = await startReceiver();
  const webhooks = [{ url: first.url }, { url: second.url, headers: { 'X-A': 'static', 'X-B': 'static' } }];
  const code = `({ userId, event }) => event === 'Skip' ? null
    : { body: { text: userId + event.length.toFixed(1) }, headers: { 'x-a': event }, url: 1 }`;
  const { sourceId, destinationId, send } = await pipeline.connect({
    webhooks,
    sharedSecret: 's3cret',
    transform: { code },
  });
  await send('track', { userId: 'ada', event: 'Skip' });
  await send('track', { userId: 'ada', event: 'Order' });
  await second.waitFor(1);
  const [request] = second.requests;
  assert.equal(request?.body.toString(), '{"text":"ada5.0"}');
  assert.deepEqual([request.headers['x-a'], request.headers['x-b']], ['Order', 'static']);
  assert.equal(request.headers['x-signature'], sign('s3cret', request.body));
  assert.equal(first.requests.length, 0);
  const [delivery] = await pipeline.deliveriesIn(pipeline.names.deliveries, destinationId);
  assert.deepEqual([delivery?.transformVersion, delivery?.onlyUrl], [1, 1]);

  const configure = (code: string) =>
    applyConfiguration(pipeline.kafka, pipeline.names.config, {
      sources: [],
      destinations: [
        {
          id: destinationId,
          type: 'Webhooks',
          enabled: true,
          sources: [sourceId],
          settings: { webhooks },
          transform: { code },
        },
      ],
    });
  await configure('({ properties }) => ({ plan: properties.user.plan })');
  await eventually(
    async () => {
      await send('track', { userId: 'ada', event: 'Signed Up', properties: { plan: 'pro' } });
      return pipeline.deliveriesIn(pipeline.names.deliveriesDead, destinationId);
    },
    (letters) => letters.length > 0,
  );
  const [letter] = await deadLetters(destinationId, 1);
  assert.deepEqual(
    [letter?.reason, letter?.lastAnswer],
    [
      'transform-failed',
      "Transform of version 2: TypeError: cannot read property 'plan' of undefined (line 1)",
    ],
  );
  await configure('({ properties }) => ({ plan: properties.plan })');
  const before = second.requests.length;
  assert.match(await replay(destinationId), /dead letters? replayed/);
  const replayed = await eventually(
    () => second.requests.slice(before).map(({ body }) => body.toString()),
    (bodies) => bodies.length > 0,
  );
  assert.equal(replayed[0], '{"plan":"pro"}');
});
