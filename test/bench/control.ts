/**
 * `npm run bench:control`: what control's history costs while events flow. Writes delivered first attempts into the topics, as router and
 * delivery do, at a rate and as fast as Kafka accepts them. The bare reader reads the same topics at the same time: kafkajs as it is, and
 * one SQLite table without an index.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@tailrace/local';
import type { Kafka } from '@tailrace/kafka';
import { deliveryKey, encodeDelivery, type Delivery } from '@tailrace/records';
import { createMetrics } from '@tailrace/service';
import { topicNames, type TopicNames } from '@tailrace/topology';
import { DeliveryMetrics } from '../../services/delivery/src/observe/metrics.ts';
import { Observer } from '../../services/delivery/src/observe/observer.ts';
import { attemptPublishing } from '../../services/delivery/src/open.ts';
import { count, readOptions, type CommandLine } from './command-line.ts';
import { configure, topicSettings } from './console/fill.ts';
import type { BareReaderSettings, FromBareReader, ToBareReader } from './control/bare-reader-process.ts';
import { renderHotSpots } from './figures/hot-spots.ts';
import { renderMachine, type Machine } from './figures/machine.ts';
import { peakBytes, startCpuMeter, type ByProcess } from './figures/measure.ts';
import { hundredths, mebibytes, table, whole } from './figures/table.ts';
import { atRate } from './load/at-rate.ts';
import { createCalls } from './load/calls.ts';
import { obey, runBench, say, type Bench } from './processes/bench.ts';
import { startChild } from './processes/children.ts';
import { openKafka } from './processes/kafka.ts';
import { spawnService } from './processes/service-process.ts';

interface Options {
  readonly rate: number;
  readonly seconds: number;
  readonly burst: number;
  readonly profileFolder: string | undefined;
}

const usage = `Usage: npm run bench:control -- [options]

Measures the CPU time of control for an event, and what an event takes in Kafka, on a broker of its own.

  --rate N          events a second               (200)
  --seconds N       of the section at this rate   (30)
  --burst N         events of the other section   (20000)
  --profile FOLDER  of control; lists the hottest functions
  --help            this text
`;

function readCommandLine(args: readonly string[]): CommandLine<Options> {
  return readOptions(args, { usage, texts: ['rate', 'seconds', 'burst', 'profile'] }, (values) => ({
    rate: count('rate', values.rate, 200),
    seconds: count('seconds', values.seconds, 30),
    burst: count('burst', values.burst, 20_000),
    profileFolder: values.profile && path.resolve(values.profile),
  }));
}

interface Section {
  readonly name: string;
  readonly events: number;
  readonly seconds: number;
  /** In seconds, from the first record until all are read. */
  readonly cpu: ByProcess;
  /** Bytes of Kafka's files, by topic. */
  readonly stored: Readonly<Record<string, number>>;
}

interface Results {
  readonly machine: Machine;
  readonly sections: readonly Section[];
  /** A second without events. */
  readonly idle: ByProcess;
  readonly peak: number;
  readonly profile: string | undefined;
}

const token = 'bench-control-token';
const startsWithinMs = 60_000;
const readsWithinMs = 300_000;
const idleSeconds = 20;
const warmUp = 2_000;
/** Of a burst: published and not acknowledged. */
const inFlight = 500;

await obey(readCommandLine(process.argv.slice(2)), (options) =>
  runBench((bench) => measure(bench, options), report),
);

async function measure(bench: Bench, { rate, seconds, burst, profileFolder }: Options): Promise<Results> {
  const { machine, brokers, brokerPid = NaN, folder, resources } = bench;
  const names = topicNames('tailrace.');
  const kafka = openKafka(brokers);
  resources.defer(() => kafka.close());
  await configure(kafka, names);
  const port = await freePort();
  const profileFile = profileFolder && path.join(profileFolder, 'control.cpuprofile');
  const control = resources.use(
    await spawnService({
      name: 'control',
      logFile: path.join(folder, 'control.log'),
      profileFile,
      env: {
        ...topicSettings,
        KAFKA_BROKERS: brokers.join(','),
        TAILRACE_CONTROL_PORT: String(port),
        TAILRACE_API_TOKEN: token,
        TAILRACE_DATA_DIR: path.join(folder, 'data'),
      },
    }),
  );
  await Promise.race([control.ready, control.died]);
  const topics = [names.deliveries, names.attempts];
  const settings: BareReaderSettings = { brokers, topics, file: path.join(folder, 'bare.sqlite') };
  const bare = resources.use(
    startChild<ToBareReader, FromBareReader>('control/bare-reader-process.ts', [JSON.stringify(settings)]),
  );
  await bare.receive('reading', startsWithinMs);
  const pids = { control: control.pid, bare: bare.pid, writer: process.pid, broker: brokerPid };

  const write = createWriter(kafka, names);
  let written = 0;
  const section = async (name: string, events: number, work: () => Promise<void>): Promise<Section> => {
    say(`${name}: ${whole(events)} events`);
    const before = storedBytes(brokerPid, topics);
    const meter = startCpuMeter(pids);
    const since = performance.now();
    await Promise.race([work(), control.died, bench.brokerDied]);
    written += events;
    bare.send({ wanted: written * topics.length });
    await Promise.all([untilRead(port, written), bare.receive('read', readsWithinMs)]);
    const cpu = meter.read();
    const after = storedBytes(brokerPid, topics);
    const stored = Object.fromEntries(
      topics.map((topic) => [topic, (after[topic] ?? NaN) - (before[topic] ?? 0)]),
    );
    return { name, events, seconds: (performance.now() - since) / 1_000, cpu, stored };
  };
  await section('warm-up', warmUp, () => atOnce(warmUp, write));
  say(`idle: ${idleSeconds} s`);
  const meter = startCpuMeter(pids);
  await sleep(idleSeconds * 1_000);
  const idle = Object.fromEntries(
    Object.entries(meter.read()).map(([name, cpu]) => [name, cpu / idleSeconds]),
  );
  const independent = { count: rate * seconds, ratePerSecond: rate, spacing: 'poisson' } as const;
  const sections = [
    await section(`${rate} a second`, independent.count, () => atRate(independent, write)),
    await section('burst', burst, () => atOnce(burst, write)),
  ];
  const peak = peakBytes(control.pid);
  await control.stop();
  return { machine, sections, idle, peak, profile: profileFile && (await renderHotSpots(profileFile)) };
}

/** Returns a function that writes the records of an event that one destination gets at the first attempt. */
function createWriter(kafka: Kafka, names: TopicNames): () => Promise<void> {
  const tell = (_fields: unknown, message = ''): void => {
    say(message);
  };
  const log = { debug: tell, info: tell, warn: tell, error: tell };
  const metrics = createMetrics();
  const config = { destination: () => undefined, onChange: () => () => undefined };
  const observer = new Observer({
    names,
    breakers: { stateOf: () => ({ state: 'closed', since: 0 }) },
    publisher: kafka.publisher(attemptPublishing),
    exchanges: { encode: () => undefined },
    metrics: new DeliveryMetrics(metrics, { config, log, logAttempts: 'none' }),
    log,
    now: Date.now,
  });
  const publisher = kafka.publisher();
  const bodyOf = createCalls();
  let nth = 0;
  return async () => {
    nth += 1;
    const acceptedAt = Date.now();
    const delivery: Delivery = {
      deliveryId: randomUUID(),
      eventId: randomUUID(),
      sourceId: 'web',
      destinationId: 'receiver',
      type: 'track',
      eventName: 'Order Completed',
      eventPosition: `${nth % 6}/${nth}`,
      acceptedAt,
      attempt: 0,
      step: 0,
      deferrals: 0,
      closedUrls: [],
      key: deliveryKey('receiver', `user-${nth % 5_000}`),
      body: Buffer.from(bodyOf(nth)),
    };
    await publisher.publish(encodeDelivery(names.deliveries, delivery));
    const target = { shownUrl: 'https://receiver.example.com/hooks/tailrace', fingerprint: '0' };
    const answer = { kind: 'success', status: 200 };
    const results = [{ target, answer, latencyMs: Math.round(Math.random() * 400) / 10 }] as never;
    const delivered = { ...delivery, attempt: 1 };
    await observer.attempted(delivered, { kind: 'delivered' }, { startedAt: Date.now(), results });
  };
}

async function atOnce(events: number, write: () => Promise<void>): Promise<void> {
  let left = events;
  const writer = async (): Promise<void> => {
    while ((left -= 1) >= 0) await write();
  };
  await Promise.all(Array.from({ length: inFlight }, writer));
}

/** Resolves when the history has this number of delivered deliveries. */
async function untilRead(port: number, deliveries: number): Promise<void> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/overview?since=1h`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { total } = (await answer.json()) as { readonly total: { readonly delivered: number } };
    if (total.delivered >= deliveries) return;
    await sleep(200);
  }
}

/** The sizes of the broker's open files, by topic. */
function storedBytes(broker: number, topics: readonly string[]): Record<string, number> {
  const sizes: Record<string, number> = {};
  for (const fd of readdirSync(`/proc/${broker}/fd`)) {
    const file = `/proc/${broker}/fd/${fd}`;
    const [, folder = '', topic = ''] = /\/(([^/]+)-\d+)\/\d+\.log$/.exec(readlinkSync(file)) ?? [];
    if (folder !== '' && topics.includes(topic)) sizes[topic] = (sizes[topic] ?? 0) + statSync(file).size;
  }
  return sizes;
}

function report({ machine, sections, idle, peak, profile }: Results): Promise<{ readonly sound: boolean }> {
  const cpuRows = sections.map(({ name, events, seconds, cpu }) => {
    const micros = (of: string): number => (((cpu[of] ?? NaN) - (idle[of] ?? 0) * seconds) * 1e6) / events;
    const [control, bare] = [micros('control'), micros('bare')];
    return [
      `${name}, in ${whole(seconds)} s`,
      whole(control),
      whole(bare),
      hundredths(control / bare),
      whole(micros('writer')),
      whole(micros('broker')),
    ];
  });
  const sizeRows = sections.map(({ name, events, stored }) => [
    name,
    ...Object.values(stored).map((bytes) => whole(bytes / events)),
  ]);
  const lines = [
    renderMachine(machine),
    '',
    'CPU time of an event without that of an idle process, µs; the writer stands in for router and delivery:',
    table(['section', 'control', 'bare reader', 'ratio', 'writer', 'broker'], cpuRows),
    '',
    `CPU of a core while idle: control ${hundredths((idle['control'] ?? NaN) * 100)} %; its peak memory ${mebibytes(peak)} MiB.`,
    '',
    'Bytes in Kafka for an event, one copy:',
    table(['section', ...Object.keys(sections[0]?.stored ?? {})], sizeRows),
    ...(profile === undefined ? [] : ['', profile]),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return Promise.resolve({ sound: true });
}
