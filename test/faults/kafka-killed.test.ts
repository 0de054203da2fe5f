/** Kafka is killed under load: ingest responds with 503, and loses no call that it answered with 200. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { status, type Answer } from '../support/receivers/answers.ts';
import { ownBroker } from '../support/kafka/broker.ts';
import { eventually } from '@tailrace/testing';
import { startPipeline, type Connection } from '../support/processes/pipeline.ts';
import { startReceiver, type ReceivedRequest } from '../support/receivers/receiver.ts';

const senderCount = 12;
/** So large that the waiting calls of all senders exceed the buffer of ingest. */
const padding = 'x'.repeat(10_000);
const ingestLimits = { TAILRACE_INGEST_BUFFER: '64KB', TAILRACE_INGEST_ACK_TIMEOUT: '1s' };

test('ingest responds with 503 while Kafka is killed under load, and every call answered with 200 arrives', async (t) => {
  await using broker = await ownBroker();
  await using pipeline = await startPipeline({ brokers: broker.brokers, env: ingestLimits });
  const arrived = new Set<string>();
  const answer = ({ body }: ReceivedRequest): Answer => {
    arrived.add(idIn(body));
    return status(200);
  };
  await using receiver = await startReceiver({ answer });
  const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  const load = startLoad(connection);

  const accepted = (count: number): Promise<unknown> =>
    eventually(
      () => load.accepted.length,
      (length) => length >= count,
    );
  await accepted(200);
  await broker.kill('SIGKILL');
  await eventually(
    () => [...load.refusals.keys()].sort(),
    (codes) => String(codes) === 'kafka-unavailable,overloaded',
  );
  const before = load.accepted.length;
  await broker.restart();
  await accepted(before + 200);
  await load.stop();

  const missing = (): string[] => load.accepted.filter((id) => !arrived.has(id));
  // If this times out, the assertion below shows the missing ids.
  await receiver.waitFor(() => missing().length === 0).catch(() => undefined);
  t.diagnostic(`${load.accepted.length} accepted; refused: ${JSON.stringify([...load.refusals])}`);
  assert.deepEqual(missing(), []);
});

interface RunningLoad {
  /** Ids of the calls that were answered with 200. */
  readonly accepted: readonly string[];
  /** Number of responses with each error code. */
  readonly refusals: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Several senders, each with one call after another; no call is sent twice. */
function startLoad({ post }: Connection): RunningLoad {
  const accepted: string[] = [];
  const refusals = new Map<string, number>();
  let next = 0;
  let stopping = false;
  const sendOne = async (): Promise<void> => {
    const id = `call-${String(next++)}`;
    const call = { messageId: id, userId: id, event: 'Sent', properties: { id, padding } };
    const response = await post('track', call);
    const { code = '' } = (await response.json()) as { code?: string };
    if (response.status === 200) {
      accepted.push(id);
      return;
    }
    assert.equal(response.status, 503, code);
    assert.match(response.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    refusals.set(code, (refusals.get(code) ?? 0) + 1);
    await sleep(50);
  };
  const senders = Array.from({ length: senderCount }, async () => {
    while (!stopping) await sendOne();
  });
  return {
    accepted,
    refusals,
    async stop() {
      stopping = true;
      await Promise.all(senders);
    },
  };
}

function idIn(body: Buffer): string {
  return /"id":"(call-\d+)"/.exec(body.toString())?.[1] ?? assert.fail('the body has no id');
}
