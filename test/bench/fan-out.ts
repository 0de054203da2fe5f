/**
 * `node test/bench/fan-out.ts`: what a delivery costs where each event goes to 1, 10 and 100 destinations: CPU time by process, and
 * bytes in Kafka by topic. Every run makes the same number of deliveries.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Configuration } from '@tailrace/config';
import { mapValues, startCpuMeter, type ByProcess } from './figures/measure.ts';
import { table, whole } from './figures/table.ts';
import { bytesByTopic } from './figures/topic-bytes.ts';
import { createLoad } from './load/load.ts';
import { headersOf, startSystem, writeKeyOf } from './pipeline/services.ts';
import { runBench, say, type Bench } from './processes/bench.ts';
import { until } from './processes/clock.ts';
import { startCounter } from './receivers/counter.ts';

const deliveries = 20_000;
const fanOuts = [1, 10, 100] as const;
const topics = ['events', 'deliveries', 'attempts', 'decisions'] as const;
const settings = { sharedSecret: randomBytes(16).toString('hex') };
const arriveWithinMs = 120_000;
/** Attempts are recorded, and offsets committed, shortly after the last delivery. */
const settleMs = 2_000;

/** Of a delivery. */
interface Cost {
  readonly fanOut: number;
  readonly cpuMicroseconds: ByProcess;
  readonly bytes: Readonly<Record<string, number>>;
  readonly lost: number;
}

await runBench(measure, report);

async function measure({ brokers, brokerPid, folder, dataDir, resources }: Bench): Promise<readonly Cost[]> {
  const counter = resources.use(await startCounter());
  const url = `${counter.origins[0]}/hook`;
  say('starting the services');
  const system = resources.use(
    await startSystem({ brokers, partitions: 6, configuration: configurationFor(url), folder }),
  );
  const pids = { ...system.pids, ...(brokerPid !== undefined && { broker: brokerPid }) };
  const run = async (fanOut: number): Promise<Cost> => {
    say(`${deliveries / fanOut} events to ${fanOut} destinations`);
    const load = createLoad({
      port: system.ingestPort,
      path: '/v1/track',
      headers: headersOf(sourceOf(fanOut)),
    });
    const [wanted, before] = [counter.arrived + deliveries, bytesOf(dataDir)];
    const meter = startCpuMeter(pids);
    await load.closedLoop({ count: deliveries / fanOut, inFlight: 64 });
    await until(() => counter.arrived >= wanted, arriveWithinMs);
    await sleep(settleMs);
    return {
      fanOut,
      cpuMicroseconds: mapValues(meter.read(), (seconds) => (seconds * 1e6) / deliveries),
      bytes: mapValues(bytesOf(dataDir), (size, topic) => (size - (before[topic] ?? 0)) / deliveries),
      lost: wanted - counter.arrived,
    };
  };
  const costs: Cost[] = [];
  for (const fanOut of fanOuts) {
    await run(fanOut);
    costs.push(await run(fanOut));
  }
  return costs;
}

function sourceOf(fanOut: number): string {
  return `to-${fanOut}`;
}

function configurationFor(url: string): Configuration {
  const source = { enabled: true, rateLimitBytes: 1_000_000_000 };
  return {
    sources: fanOuts.map(sourceOf).map((id) => ({ id, writeKeys: [writeKeyOf(id)], ...source })),
    destinations: fanOuts.flatMap((fanOut) =>
      Array.from({ length: fanOut }, (_, nth) => ({
        id: `${sourceOf(fanOut)}-${nth}`,
        type: 'Webhooks',
        enabled: true,
        sources: [sourceOf(fanOut)],
        settings: { ...settings, webhooks: [{ url: `${url}/${nth}` }] },
      })),
    ),
  };
}

/** What Kafka keeps, by topic. */
function bytesOf(dataDir: string): Readonly<Record<string, number>> {
  const all = bytesByTopic(dataDir);
  return Object.fromEntries(topics.map((topic) => [topic, all[topic] ?? 0]));
}

function report(costs: readonly Cost[]): Promise<{ readonly sound: boolean }> {
  const rows = (title: string, of: (cost: Cost) => Readonly<Record<string, number>>): string[][] =>
    Object.keys(costs[0] ? of(costs[0]) : {}).map((name) => [
      `${title}, ${name}`,
      ...costs.map((cost) => whole(of(cost)[name] ?? NaN)),
    ]);
  const titles = costs.map(({ fanOut }) => `${fanOut} destinations`);
  process.stdout.write(
    `${table(
      ['of a delivery', ...titles],
      [
        ...rows('CPU µs', ({ cpuMicroseconds }) => cpuMicroseconds),
        ...rows('bytes', ({ bytes }) => bytes),
        ['lost', ...costs.map(({ lost }) => whole(lost))],
      ],
    )}\n`,
  );
  return Promise.resolve({ sound: costs.every(({ lost }) => lost === 0) });
}
