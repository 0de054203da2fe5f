/** Kafka is killed under load: ingest says so, and keeps every promise that a 200 was. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { status, type Answer } from '../support/answers.ts';
import { ownBroker } from '../support/broker.ts';
import { eventually } from '../support/kafka-client.ts';
import { startPipeline, type Connection } from '../support/pipeline.ts';
import { startReceiver, type ReceivedRequest } from '../support/receiver.ts';

const senderCount = 12;
/** So large that what the senders have waiting is more than ingest may hold. */
const padding = 'x'.repeat(10_000);
const ingestLimits = { TAILRACE_INGEST_BUFFER: '64KB', TAILRACE_INGEST_ACK_TIMEOUT: '1s' };
const recoversWithinMs = 90_000;

test('Kafka is killed under load: 503 until it is back, and every call that was answered with 200 arrives', async (t) => {
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
      recoversWithinMs,
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
  // Where it takes too long, what is missing is shown.
  await receiver.waitFor(() => missing().length === 0, recoversWithinMs).catch(() => undefined);
  t.diagnostic(`${load.accepted.length} accepted; refused: ${JSON.stringify([...load.refusals])}`);
  assert.deepEqual(missing(), []);
});

interface RunningLoad {
  /** Ids of the calls that were answered with 200. */
  readonly accepted: readonly string[];
  /** How often each error code was the answer. */
  readonly refusals: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Calls one after another from each of several senders; none is ever sent again. */
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
