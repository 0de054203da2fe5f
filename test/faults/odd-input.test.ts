/**
 * Unexpected and hostile input within normal traffic: no accepted event is lost or repeated, no service ends, memory
 * stays within its bounds, and readiness is correct. The seed is printed; ODD_INPUT_SEED sets the seed and
 * ODD_INPUT_COUNT how many odd inputs there are at least.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { eventually, seeded } from '@tailrace/testing';
import { sharedBroker } from '../support/kafka/broker.ts';
import { startPipelineOfProcesses, type Connection, type Pipeline } from '../support/processes/pipeline.ts';
import type { ServiceProcess } from '../support/processes/process.ts';
import { produceRaw } from '../support/kafka/raw-producer.ts';
import { status } from '../support/receivers/answers.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { backOff } from '../support/steadily.ts';
import { headerOf, watchTopic } from '../support/kafka/topics.ts';
import { oddInputs, type OddInputContext } from './odd-input.ts';

const count = Number(process.env['ODD_INPUT_COUNT'] ?? 30);
const seed = Number(process.env['ODD_INPUT_SEED'] ?? randomInt(1_000_000));
/** Peaks of resident memory in MB: the figure in each service's README.md, and 40 for variations of the runtime. */
const mostMb = { ingest: 512, router: 450, delivery: 300 };
const partitions = 3;

test(`odd input in normal traffic, with seed ${seed}`, async (t) => {
  const [broker = ''] = (await sharedBroker()).brokers;
  // The receiver is in this process, which is busy for seconds at times: an attempt that timed out would be a repeat.
  await using pipeline = await startPipelineOfProcesses({
    partitions,
    retrySchedule: '1s,2s',
    deliveryTimeout: '1m',
  });
  const arrived = new Map<string, number>();
  await using receiver = await startReceiver({
    answer: ({ body }) => {
      const { userId } = JSON.parse(body.toString()) as { userId: string };
      arrived.set(userId, (arrived.get(userId) ?? 0) + 1);
      return status(200);
    },
  });
  // A hundred large bodies at once are more than the default.
  const more = { rateLimitBytes: 1_000_000_000 };
  const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }] }, more);
  // Without the sample of calls that were refused.
  await using rejected = await watchTopic(
    pipeline.kafka,
    pipeline.names.eventsRejected,
    (record) => headerOf(record, 'status') === undefined,
  );
  const services = [pipeline.ingest, pipeline.router, pipeline.delivery];
  const pids = services.map(({ pid }) => pid);
  const ledger = openLedger();
  const context = contextOf(pipeline, connection, broker, ledger);

  const random = seeded(seed);
  const probes = await Promise.all(services.map(probeOf));
  const kinds = Object.keys(oddInputs);
  const over = new AbortController();
  const normal = sendNormally(context, ledger, over.signal);
  const refusals: string[] = [];
  // Each kind once, for any seed, and then at random.
  for (let nth = 0; nth < Math.max(kinds.length, count); nth += 1) {
    const kind = kinds[nth] ?? kinds[Math.floor(random() * kinds.length)] ?? '';
    await oddInputs[kind]?.(random())(context);
    for (const probe of probes) {
      const { status } = await fetch(probe);
      if (status !== 200) refusals.push(`${probe} ${status} after ${kind}`);
    }
  }
  over.abort();
  await normal;

  const missing = (): string[] => [...ledger.obligations.keys()].filter((id) => !arrived.has(id));
  // If this times out, the assertion below shows the missing ids.
  await eventually(missing, ({ length }) => length === 0).catch(() => undefined);
  await rejected.waitFor((records) => records.length >= ledger.rejected);

  const peaks = Object.fromEntries(services.map((service) => [service.name, peakMb(service)]));
  t.diagnostic(
    `${ledger.obligations.size} events, ${ledger.rejected} rejected, peaks in MB ${JSON.stringify(peaks)}`,
  );
  assert.deepEqual(missing(), []);
  assert.deepEqual(
    [...arrived].filter(([id, count]) => ledger.obligations.has(id) && count > 1),
    [],
  );
  for (const { body } of receiver.requests) {
    const text = body.toString();
    const wanted = ledger.obligations.get((JSON.parse(text) as { userId: string }).userId);
    if (wanted !== undefined) assert.ok(text.includes(wanted), `${text} must hold ${wanted}`);
  }
  assert.equal(rejected.items.length, ledger.rejected);
  assert.deepEqual(
    services.map(({ pid }) => pid),
    pids,
  );
  assert.deepEqual(refusals, []);
  for (const [name, most] of Object.entries(mostMb)) {
    assert.ok((peaks[name] ?? Infinity) <= most, `${name} used ${peaks[name] ?? 0} MB of at most ${most}`);
  }
});

interface Ledger {
  /** The text that the body of each id must hold. */
  readonly obligations: Map<string, string | undefined>;
  rejected: number;
}

function openLedger(): Ledger {
  return { obligations: new Map(), rejected: 0 };
}

function contextOf(
  pipeline: Pipeline,
  connection: Connection,
  broker: string,
  ledger: Ledger,
): OddInputContext {
  const { names, ingestUrl } = pipeline;
  let next = 0;
  return {
    ingestUrl,
    sourceId: connection.sourceId,
    destinationId: connection.destinationId,
    writeKey: connection.writeKey,
    oblige(text) {
      const id = `odd-${next++}`;
      ledger.obligations.set(id, text);
      return id;
    },
    rejects(records) {
      ledger.rejected += records;
    },
    produce: (topic, batch) =>
      produceRaw(
        broker,
        topic === 'events' ? names.events : names.retryTier(2_000),
        next++ % partitions,
        batch,
      ),
    async post(route, body, headers = {}) {
      const response = await fetch(`${ingestUrl}/v1/${route}`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${connection.writeKey}:`)}`, ...headers },
        body: body as string,
      });
      await response.arrayBuffer();
      return response.status;
    },
    expectStatus(what, status, allowed) {
      assert.ok(allowed.includes(status), `${what} was answered with ${status}`);
    },
  };
}

/** Sends one call after another; each that is answered with 200 must arrive. */
async function sendNormally(context: OddInputContext, ledger: Ledger, signal: AbortSignal): Promise<void> {
  for (let nth = 0; !signal.aborted; nth += 1) {
    const id = `normal-${nth}`;
    const status = await context.post(
      'track',
      JSON.stringify({ event: 'Normal', userId: id, messageId: id }),
    );
    context.expectStatus('a normal call', status, [200, 503]);
    if (status === 200) ledger.obligations.set(id, undefined);
    await backOff();
  }
}

async function probeOf(service: ServiceProcess): Promise<string> {
  const line = await service.log.find(({ msg }) => msg === 'starting');
  return `http://127.0.0.1:${String(line['metricsPort'])}/readyz`;
}

function peakMb({ pid }: ServiceProcess): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_000);
}
