/**
 * The only broker hangs, and is killed under load. No service ends or logs a defect, ingest and control answer with 503, and
 * no call that was answered with 200 is lost.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { ownCluster } from '../support/kafka/cluster.ts';
import { startControl } from '../support/processes/control.ts';
import { startPipelineOfProcesses, type Connection } from '../support/processes/pipeline.ts';
import type { ServiceProcess } from '../support/processes/process.ts';
import { status, type Answer } from '../support/receivers/answers.ts';
import { startReceiver, type ReceivedRequest } from '../support/receivers/receiver.ts';
import { backOff } from '../support/steadily.ts';

const senderCount = 12;
/** So large that the waiting calls of all senders exceed the buffer of ingest. */
const padding = 'x'.repeat(10_000);
const ingestLimits = { TAILRACE_INGEST_BUFFER: '64KB', TAILRACE_INGEST_ACK_TIMEOUT: '1s' };

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const cluster = opened.use(await ownCluster({ size: 1 }));
const node = cluster.node(1);
const pipeline = opened.use(await startPipelineOfProcesses({ brokers: cluster.brokers, env: ingestLimits }));
const prefix = pipeline.names.events.replace(/events$/, '');
const control = opened.use(await startControl(cluster.brokers, prefix));
const services = [pipeline.ingest, pipeline.router, pipeline.delivery, control.process];
const pids = services.map(({ pid }) => pid);
const arrived = new Set<string>();
const answer = ({ body }: ReceivedRequest): Answer => {
  arrived.add(idIn(body));
  return status(200);
};
const receiver = opened.use(await startReceiver({ answer }));
const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }] });

/** The number of requests to Kafka that were not answered in time. */
async function timeoutsOf({ log }: ServiceProcess): Promise<number> {
  const { metricsPort } = await log.find(({ msg }) => msg === 'starting');
  const text = await (await fetch(`http://127.0.0.1:${String(metricsPort)}/metrics`)).text();
  const lines = text.matchAll(/^tailrace_kafka_requests_total\{[^}]*outcome="timeout"[^}]*\} (\d+)$/gm);
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
}

async function assertArrived(ids: readonly string[]): Promise<void> {
  const missing = (): string[] => ids.filter((id) => !arrived.has(id));
  // If this times out, the assertion below shows the missing ids, and the log and the state of each service.
  await receiver.waitFor(() => missing().length === 0).catch(() => undefined);
  if (missing().length > 0)
    assert.fail(`${missing().join()}\n${(await Promise.all(services.map(stateOf))).join('\n')}`);
}

/** The last lines of the log, the readiness, and what the consumer and the publishers report. */
async function stateOf({ name, log }: ServiceProcess): Promise<string> {
  const lines = log.items.slice(-30).map((line) => JSON.stringify(line));
  const { metricsPort } = await log.find(({ msg }) => msg === 'starting');
  const [metrics = '', readiness = ''] = await Promise.all(
    ['metrics', 'readyz'].map(async (page) =>
      (await fetch(`http://127.0.0.1:${String(metricsPort)}/${page}`)).text(),
    ),
  );
  const figures = metrics
    .split('\n')
    .filter((line) => /^tailrace_(consumer|kafka|delivery|router)_/.test(line));
  return [`${name}:`, ...lines, readiness, ...figures].join('\n');
}

test('while the broker hangs, calls and requests to the API get a 503, and no accepted call is lost', async () => {
  const accepted: string[] = [];
  const send = async (id: string): Promise<number> => {
    const response = await connection.post('track', { userId: id, event: 'Sent', properties: { id } });
    await response.arrayBuffer();
    if (response.status === 200) accepted.push(id);
    else assert.equal(response.status, 503);
    return response.status;
  };
  for (let nth = 0; nth < 50;) if ((await send(`call-1${nth}`)) === 200) nth += 1;

  await node.freeze();
  let during = 0;
  const seen = new Map<string, number>();
  // Until a request of every service was not answered, and its repetition neither.
  await eventually(
    async () => {
      const body = { id: 'meanwhile' };
      const [, asked] = await Promise.all([
        send(`call-2${during++}`),
        control.ask({ method: 'POST', path: '/v1/sources', body }),
      ]);
      assert.equal(asked.status, 503, asked.text);
      for (const service of services) seen.set(service.name, await timeoutsOf(service));
      return Object.fromEntries(seen);
    },
    (timeouts) => Object.values(timeouts).every((count) => count >= 2),
  );
  node.thaw();

  // Calls that were answered with 503 may have been written nevertheless.
  for (let nth = 0; nth < 50;) if ((await send(`call-3${nth}`)) === 200) nth += 1;
  await assertArrived(accepted);
});

test('while Kafka is killed under load, ingest responds with 503, and every call answered with 200 arrives', async (t) => {
  const load = startLoad(connection);
  const accepted = (count: number): Promise<unknown> =>
    eventually(
      () => load.accepted.length,
      (length) => length >= count,
    );
  await accepted(200);
  await node.kill();
  await eventually(
    () => [...load.refusals.keys()].sort(),
    (codes) => String(codes) === 'kafka-unavailable,overloaded',
  );
  const before = load.accepted.length;
  await node.restart();
  await accepted(before + 200);
  await load.stop();
  t.diagnostic(`${load.accepted.length} accepted; refused: ${JSON.stringify([...load.refusals])}`);
  await assertArrived(load.accepted);
});

test('no service has ended or logged a defect', () => {
  assert.deepEqual(
    services.map(({ pid }) => pid),
    pids,
  );
  for (const { name, log } of services) {
    const defects = log.items.filter(({ level, msg }) => level === 'fatal' || msg === 'request failed');
    assert.deepEqual(defects, [], name);
  }
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
    const id = `call-4${String(next++)}`;
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
    await backOff();
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
