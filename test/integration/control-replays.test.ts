/** Dead letters and replays through the API, with a running pipeline. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { status } from '../support/receivers/answers.ts';
import { sharedBroker } from '../support/kafka/broker.ts';
import { readToken, startControl, type Control } from '../support/processes/control.ts';
import { startPipeline, type Pipeline } from '../support/processes/pipeline.ts';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';

type Json = Readonly<Record<string, unknown>>;

let pipeline: Pipeline;
let control: Control;
let receiver: Receiver;
let healed = false;
let brokers: readonly string[];
let prefix: string;
const opened = new AsyncDisposableStack();

before(async () => {
  ({ brokers } = await sharedBroker());
  pipeline = opened.use(await startPipeline({ brokers }));
  prefix = pipeline.names.deliveries.slice(0, -'deliveries'.length);
  control = opened.use(await startControl(brokers, prefix));
  receiver = opened.use(await startReceiver({ answer: () => status(healed ? 200 : 400) }));
});
after(() => opened.disposeAsync());

async function ended(replay: Json): Promise<Json> {
  const path = `/v1/replays/${String(replay['id'])}`;
  const deadline = performance.now() + 60_000;
  for (;;) {
    const now = await control.expect(200, { path });
    if (now['endedAt'] !== undefined) return now;
    assert.ok(performance.now() < deadline, JSON.stringify(now));
    await wait(50);
  }
}

const replay = (status: number, body: object): Promise<Json> =>
  control.expect(status, { path: '/v1/replays', method: 'POST', body });
const itemsOf = (json: Json): readonly Json[] => json['items'] as Json[];

test('dead letters are listed in pages, counted, shown, counted for a replay, and replayed once', async () => {
  const { send, destinationId } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  for (let n = 0; n < 3; n++)
    await send('track', { userId: `u-${n}`, event: 'Died', messageId: `${destinationId}-${n}` });
  await receiver.waitFor(3);
  const list = `/v1/dead-letters?destination=${destinationId}`;
  const deadline = performance.now() + 60_000;
  for (;;) {
    const { status, json, text } = await control.ask({ path: list });
    if (status === 200 && itemsOf(json).length === 3) break;
    assert.ok(performance.now() < deadline, text);
    await wait(50);
  }

  const first = await control.expect(200, { path: `${list}&limit=2` });
  const second = await control.expect(200, { path: `${list}&limit=2&cursor=${String(first['next'])}` });
  const refs = [...itemsOf(first), ...itemsOf(second)].map(({ ref }) => ref);
  assert.equal(new Set(refs).size, 3);
  assert.equal(second['next'], undefined);
  const summary = await control.expect(200, {
    path: `/v1/dead-letters/summary?destination=${destinationId}`,
  });
  assert.deepEqual([summary['deadLetters'], itemsOf(summary)[0]?.['reason']], [3, 'client-error']);

  const path = `/v1/dead-letters/${String(refs[0])}`;
  const [letter] = itemsOf(await control.expect(200, { path }));
  assert.deepEqual([letter?.['event'], letter?.['masked'], letter?.['replayed']], ['Died', false, false]);
  const [masked] = itemsOf(await control.expect(200, { path, token: readToken }));
  assert.deepEqual([masked?.['masked'], (masked?.['body'] as Json)['userId']], [true, '***']);
  const ofDelivery = { path: `/v1/dead-letters/${String(letter?.['deliveryId'])}` };
  assert.deepEqual(itemsOf(await control.expect(200, ofDelivery)), [letter]);

  const counted = await ended(await replay(202, { destination: destinationId, dryRun: true }));
  assert.deepEqual([counted['state'], counted['due'], counted['replayed']], ['done', 3, 0]);
  healed = true;
  const done = await ended(await replay(202, { destination: destinationId, ratePerSecond: 1_000 }));
  assert.deepEqual([done['state'], done['due'], done['replayed']], ['done', 3, 3]);
  await receiver.waitFor(6);
  const again = await ended(await replay(202, { destination: destinationId }));
  assert.deepEqual([again['due'], again['replayed']], [0, 0]);
  assert.equal(itemsOf(await control.expect(200, { path: '/v1/replays' })).length, 3);
  await using other = await startControl(brokers, prefix);
  assert.deepEqual(await other.expect(200, { path: `/v1/replays/${String(done['id'])}` }), done);

  const deliveredBy = performance.now() + 60_000;
  const delivered = `/v1/deliveries?destination=${destinationId}&status=delivered&event=Died`;
  while (itemsOf(await control.expect(200, { path: delivered })).length < 3) {
    assert.ok(performance.now() < deliveredBy, 'replays are delivered');
    await wait(50);
  }

  const resent = { method: 'POST', path: `/v1/deliveries/${String(letter?.['deliveryId'])}/resend` } as const;
  await control.expect(202, resent);
  await receiver.waitFor(7);
  const bodies = receiver.requests.map(({ body }) => body.toString());
  assert.ok(bodies.slice(0, 3).includes(bodies.at(-1) ?? ''), 'the resent body is one of the first');
});
