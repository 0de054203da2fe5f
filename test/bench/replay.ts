/**
 * `node test/bench/replay.ts`: replays past events under live load, first undisturbed, then while each service is killed. Counts each
 * event in the replay topic and at the receiver. The exit code is 1 unless each selected event was replayed exactly once and arrived,
 * no other did, and no live call was lost.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyConfiguration, type Configuration } from '@tailrace/config';
import type { Kafka } from '@tailrace/kafka';
import { freePort } from '@tailrace/local';
import { topicNames, topicSpecs } from '@tailrace/topology';
import { count, readOptions, type CommandLine } from './command-line.ts';
import { renderMachine, type Machine } from './figures/machine.ts';
import { cpuSeconds, mapValues, peakBytes, startCpuMeter, type ByProcess } from './figures/measure.ts';
import { distribution, type Distribution } from './figures/statistics.ts';
import { hundredths, mebibytes, percent, table, tenths, whole } from './figures/table.ts';
import { atRate } from './load/at-rate.ts';
import { createCalls, numberOf } from './load/calls.ts';
import { createLoad, type Load } from './load/load.ts';
import { connected, environmentOf, headersOf } from './pipeline/services.ts';
import { obey, runBench, say, type Bench } from './processes/bench.ts';
import { sharedNowMs } from './processes/clock.ts';
import { openKafka, untilTaken } from './processes/kafka.ts';
import { spawnService, type ServiceProcess } from './processes/service-process.ts';
import { faultsOf, startReceiver, type Arrivals, type Receiver } from './receivers/receiver.ts';

interface Options {
  readonly events: number;
  readonly rate: number;
  readonly liveRate: number;
  readonly seconds: number;
  readonly latency: boolean;
}

const usage = `Usage: node test/bench/replay.ts [options]

Replays every second of many past events under live load, on a broker of its own.

  --events N     past events                                        (20000)
  --rate N       events of the replay a second at most              (150)
  --live-rate N  live calls a second                                (50)
  --seconds N    of live calls alone, and beside the replay         (20)
  --latency      measure the latency only: kill nothing, and end before the replay does
  --help         this text
`;

function readCommandLine(args: readonly string[]): CommandLine<Options> {
  const known = { usage, texts: ['events', 'rate', 'live-rate', 'seconds'], flags: ['latency'] } as const;
  return readOptions(args, known, (values) => ({
    events: count('events', values.events, 20_000),
    rate: count('rate', values.rate, 150),
    liveRate: count('live-rate', values['live-rate'], 50),
    seconds: count('seconds', values.seconds, 20),
    latency: values.latency === true,
  }));
}

interface Replay {
  readonly id: string;
  readonly state: string;
  readonly replayed: number;
  readonly startedAt: string;
  readonly endedAt?: string;
}

interface Results {
  readonly machine: Machine;
  readonly options: Options;
  readonly alone: Live;
  /** From the request on, while the replay reads and counts. */
  readonly counting: Live;
  readonly sending: Live;
  /** Alone, after the replay was interrupted. Undefined where services are killed. */
  readonly afterwards: Live | undefined;
  /** CPU time of control for a replay that selects nothing. */
  readonly readingSeconds: number;
  /** Until the answer to the request, which has the estimate. */
  readonly answeredAfterMs: number;
  readonly sentAfterMs: number;
  readonly controlPeakBytes: number;
  /** Sentences about what should not have happened. */
  readonly faults: readonly string[];
  /** Undefined where only the latency was measured. */
  readonly judged: Judged | undefined;
}

interface Live extends Distribution {
  /** Of a core, by process. */
  readonly cpu: ByProcess;
}

interface Judged {
  readonly replaySeconds: number;
  readonly selected: number;
  readonly replayed: number;
  readonly received: number;
  /** Requests of deliveries that were received before, and the most that the kill of delivery explains. */
  readonly repeated: number;
  readonly explained: number;
}

const partitions = 6;
const names = topicNames('tailrace.');
const token = 'bench-replay-token';
const sharedSecret = randomBytes(16).toString('hex');
const past = 'past';
const live = 'live';
const serviceNames = ['ingest', 'router', 'delivery', 'control'] as const;
type ServiceName = (typeof serviceNames)[number];
/** Live calls while a service is killed. */
const disturbed = { calls: 200, ratePerSecond: 20 };
const arriveWithinMs = 300_000;
const retryMs = 10_000;
const retrySchedule = Array.from({ length: 20 }, () => '10s').join(',');
/** Work that delivery had not committed when it was killed is repeated. */
const repeatableMs = 3_000;
const pollMs = 250;
/** Of live calls before the service is killed. */
const beforeKillMs = 1_000;

await obey(readCommandLine(process.argv.slice(2)), (options) =>
  runBench((bench) => measure(bench, options), report),
);

async function measure(bench: Bench, options: Options): Promise<Results> {
  const { machine, brokers, brokerPid, folder, resources, brokerDied } = bench;
  const { events, rate, liveRate, seconds } = options;
  const kafka = openKafka(brokers);
  resources.defer(() => kafka.close());
  await kafka.ensureTopics(topicSpecs(names, { partitions, retryScheduleMs: [retryMs] }));
  const [ofLive, ofPast] = [resources.use(startReceiver()), resources.use(startReceiver())];
  const [[liveUrl], [pastUrl]] = [
    await ofLive.listen([{ kind: 'answers' }]),
    await ofPast.listen([{ kind: 'answers' }]),
  ];
  const ofSources = connected(live, liveUrl, sharedSecret);
  const ofReplay = connected(past, pastUrl, sharedSecret);
  const configure = (configuration: Configuration): Promise<unknown> =>
    untilTaken(() => applyConfiguration(kafka, names.config, configuration));
  await configure({
    sources: [...ofSources.sources, ...ofReplay.sources],
    destinations: ofSources.destinations,
  });

  const ports = { ingest: await freePort(), control: await freePort() };
  const control = { port: ports.control, token, folder };
  const services = new Map<ServiceName, ServiceProcess>();
  const start = async (name: ServiceName): Promise<void> => {
    const service = await spawnService({
      name,
      logFile: path.join(folder, `${name}.log`),
      env: {
        ...environmentOf({ brokers, partitions, ingestPort: ports.ingest, control }),
        TAILRACE_RETRY_SCHEDULE: retrySchedule,
        // The receivers answer at once, but may have to wait for a processor.
        TAILRACE_DELIVERY_TIMEOUT: '30s',
      },
    });
    resources.use(service);
    services.set(name, service);
    await service.ready;
  };
  say('starting the services');
  await Promise.all(serviceNames.map(start));

  say(`writing ${events} past events`);
  await writePast(kafka, events);
  await untilRouted(kafka);
  await configure(ofReplay);

  const api = async <Answer>(method: string, place: string, body?: object): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const url = `http://127.0.0.1:${ports.control}/v1/${place}`;
    const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${place}: ${response.status} ${text}`);
    return JSON.parse(text) as Answer;
  };
  say('waiting for the history');
  while ((await api<{ behind: number }>('GET', 'overview')).behind > 0) await sleep(pollMs);

  const load = createLoad({ port: ports.ingest, path: '/v1/track', headers: headersOf(live) });
  const measureLive = async (): Promise<Live> => {
    const run = { count: liveRate * seconds, ratePerSecond: liveRate };
    const pids = Object.fromEntries(Array.from(services, ([name, { pid }]) => [name, pid]));
    const meter = startCpuMeter({ ...pids, ...(brokerPid !== undefined && { broker: brokerPid }) });
    const latency = await Promise.race([latencyOf(load, ofLive, run), brokerDied]);
    return { ...latency, cpu: mapValues(meter.read(), (used) => used / seconds) };
  };
  say('warming up');
  await measureLive();
  say(`live calls alone, ${seconds} s`);
  const alone = await measureLive();

  await ofPast.expect({ first: 0, count: events, arriving: Math.ceil(events / 2) });
  const order = { kind: 'events', destination: `${past}-receiver`, events: ['Order Completed'], from: '1d' };
  const controlSeconds = (): number => cpuSeconds(services.get('control')?.pid ?? NaN);
  const ask = async (body: object) => {
    const { id } = await api<Replay>('POST', 'replays', body);
    const look = (method = 'GET'): Promise<Replay> => api(method, `replays/${id}`);
    return look;
  };
  say('a replay that selects nothing');
  const secondsBefore = controlSeconds();
  const ofNothing = await ask({ ...order, events: ['Order Refunded'] });
  while ((await ofNothing()).endedAt === undefined) await sleep(pollMs);
  const readingSeconds = controlSeconds() - secondsBefore;

  const beganAt = performance.now();
  const replay = await ask({ ...order, ratePerSecond: rate });
  const answeredAfterMs = performance.now() - beganAt;
  const firstSent = async (): Promise<number> => {
    while ((await replay()).replayed === 0) await sleep(pollMs);
    return performance.now() - beganAt;
  };
  const sent = firstSent();
  say(`live calls beside the replay from its request on, ${seconds} s`);
  const counting = await measureLive();
  const sentAfterMs = await sent;
  say(`live calls while it sends, ${seconds} s`);
  const sending = await measureLive();
  const times = { readingSeconds, answeredAfterMs, sentAfterMs };
  const measured = { machine, options, alone, counting, sending, ...times };
  const controlPeak = (): number => peakBytes(services.get('control')?.pid ?? NaN);
  if (options.latency) {
    await replay('DELETE');
    say(`live calls alone again, ${seconds} s`);
    const afterwards = await measureLive();
    return { ...measured, afterwards, controlPeakBytes: controlPeak(), faults: [], judged: undefined };
  }

  const faults: string[] = [];
  let [controlPeakBytes, deliveryKilledAt] = [0, NaN];
  for (const [nth, name] of serviceNames.entries()) {
    if ((await replay()).endedAt !== undefined) faults.push(`the replay had ended before ${name} was killed`);
    say(`kill -9 of ${name}`);
    const run = { count: disturbed.calls, first: load.next + nth * disturbed.calls };
    await ofLive.expect(run);
    const sending = sendUntilAccepted(ports.ingest, run);
    await sleep(beforeKillMs);
    const { pid = NaN } = services.get(name) ?? {};
    if (name === 'control') controlPeakBytes = controlPeak();
    if (name === 'delivery') deliveryKilledAt = sharedNowMs();
    process.kill(pid, 'SIGKILL');
    await Promise.race([start(name), brokerDied]);
    await sending;
    await ofLive.complete(arriveWithinMs);
    const { receivedAt } = await ofLive.handOver();
    const lost = receivedAt.filter((at) => Number.isNaN(at)).length;
    if (lost > 0) faults.push(`${lost} live calls were lost when ${name} was killed`);
  }

  say('waiting for the end of the replay');
  let found = await replay();
  while (found.endedAt === undefined) {
    await sleep(pollMs);
    found = await replay();
  }
  const replaySeconds = (Date.parse(found.endedAt) - Date.parse(found.startedAt)) / 1_000;
  if (found.state !== 'done') faults.push(`the replay is ${JSON.stringify(found)}`);
  await ofPast.complete(arriveWithinMs);
  const arrivals = await ofPast.handOver();
  const replayed = await untilTaken(() => timesReplayed(kafka, events));
  faults.push(...judge(replayed, arrivals), ...faultsOf(arrivals.samples, sharedSecret));
  const received = arrivals.receivedAt.filter((at) => !Number.isNaN(at));
  return {
    ...measured,
    afterwards: undefined,
    controlPeakBytes: Math.max(controlPeakBytes, controlPeak()),
    faults,
    judged: {
      replaySeconds,
      selected: Math.ceil(events / 2),
      replayed: replayed.reduce((sum, number) => sum + number, 0),
      received: received.length,
      repeated: arrivals.repeated,
      explained: received.filter((at) => at > deliveryKilledAt - repeatableMs && at <= deliveryKilledAt)
        .length,
    },
  };
}

/** Every second event has another name than the replay selects. */
async function writePast(kafka: Kafka, events: number): Promise<void> {
  const publisher = kafka.publisher();
  const call = createCalls();
  const together = 300;
  for (let first = 0; first < events; first += together) {
    const numbers = Array.from({ length: Math.min(together, events - first) }, (_, nth) => first + nth);
    await Promise.all(
      numbers.map((number) => {
        const value = isSelected(number)
          ? call(number)
          : call(number).replace('Order Completed', 'Order Started');
        return publisher.publish({
          topic: names.events,
          key: String(number),
          value,
          headers: { 'source-id': past },
        });
      }),
    );
  }
  await publisher.close();
}

function isSelected(number: number): boolean {
  return number % 2 === 0;
}

async function untilRouted(kafka: Kafka): Promise<void> {
  const ends = await kafka.ends(names.events);
  for (;;) {
    const found = await untilTaken(() => kafka.finished('tailrace.router', [names.events]));
    const finished = found.get(names.events);
    if ([...ends].every(([partition, end]) => (finished?.get(partition)?.[0]?.to ?? 0) >= end)) return;
    await sleep(pollMs);
  }
}

/** Sends live calls, and resolves with their latency from being sent until being received. */
async function latencyOf(
  load: Load,
  receiver: Receiver,
  run: { readonly count: number; readonly ratePerSecond: number },
): Promise<Distribution> {
  await receiver.expect({ first: load.next, count: run.count });
  const { sentAt } = await load.openLoop({ ...run, spacing: 'poisson' });
  await receiver.complete(arriveWithinMs);
  const { receivedAt } = await receiver.handOver();
  if (receivedAt.some((at) => Number.isNaN(at))) throw new Error('live calls were lost');
  return distribution(receivedAt.map((at, nth) => at - (sentAt[nth] ?? NaN)));
}

/** Sends each live call again until it is accepted. */
async function sendUntilAccepted(
  port: number,
  { first, count }: { readonly first: number; readonly count: number },
): Promise<void> {
  const call = createCalls();
  await atRate({ count, ratePerSecond: disturbed.ratePerSecond }, async (index) => {
    const request = { method: 'POST', headers: headersOf(live), body: call(first + index) };
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/track`, request).catch(() => undefined);
      await answer?.arrayBuffer().catch(() => undefined);
      if (answer?.ok) return;
      await sleep(pollMs);
    }
  });
}

/** How often each event is in the replay topic. */
async function timesReplayed(kafka: Kafka, events: number): Promise<Uint8Array> {
  const times = new Uint8Array(events);
  for await (const records of await kafka.scan({ topic: names.deliveriesReplay })) {
    for (const { value } of records) {
      const number = numberOf(value ?? Buffer.alloc(0));
      times[number] = (times[number] ?? 0) + 1;
    }
  }
  return times;
}

function judge(times: Uint8Array, { receivedAt, unexpected }: Arrivals): string[] {
  const numbers = Array.from(times.keys());
  const wrong: Readonly<Record<string, number>> = {
    'selected events are not in the replay topic': numbers.filter(
      (one) => isSelected(one) && times[one] === 0,
    ).length,
    'events are in the replay topic more than once': numbers.filter((one) => (times[one] ?? 0) > 1).length,
    'events were replayed that were not selected': numbers.filter(
      (one) => !isSelected(one) && times[one] !== 0,
    ).length,
    'selected events were not received': numbers.filter(
      (one) => isSelected(one) && Number.isNaN(receivedAt[one]),
    ).length,
    'requests were of no past event': unexpected,
  };
  return Object.entries(wrong).flatMap(([what, number]) => (number > 0 ? [`${number} ${what}`] : []));
}

function report(results: Results): Promise<{ readonly sound: boolean }> {
  const { options, alone, counting, sending, afterwards, faults, judged } = results;
  const all = {
    alone,
    'while it counts': counting,
    'while it sends': sending,
    ...(afterwards && { 'alone again': afterwards }),
  };
  const processes = Object.keys(alone.cpu).map((name) => [
    `CPU of ${name}`,
    ...Object.values(all).map(({ cpu }) => percent(cpu[name] ?? NaN)),
  ]);
  const rows = (['p50', 'p99', 'max'] as const).flatMap((figure) => [
    [`live, sent → received, ${figure}, ms`, ...Object.values(all).map((live) => tenths(live[figure]))],
    ['  to alone', ...Object.values(all).map((live) => hundredths(live[figure] / alone[figure]))],
  ]);
  process.stdout.write(
    [
      renderMachine(results.machine),
      '',
      table(['', ...Object.keys(all)], [...rows, ...processes]),
      '',
      `Past events: ${whole(options.events)}; at most ${whole(options.rate)} a second; answered after ${whole(results.answeredAfterMs)} ms, first sent after ${tenths(results.sentAfterMs / 1_000)} s; control's peak ${mebibytes(results.controlPeakBytes)} MiB`,
      `Read by a replay that selects nothing: ${whole(options.events / results.readingSeconds)} events a second of control's CPU, Kafka's client included`,
      ...(judged ? judgement(judged) : []),
      '',
    ].join('\n'),
  );
  for (const fault of faults) say(fault);
  return Promise.resolve({ sound: faults.length === 0 && (!judged || judged.repeated <= judged.explained) });
}

function judgement({ replaySeconds, selected, replayed, received, repeated, explained }: Judged): string[] {
  return [
    `Selected: ${whole(selected)}, in the replay topic: ${whole(replayed)}, received: ${whole(received)}, in ${tenths(replaySeconds)} s with ${serviceNames.length} kills`,
    `Received again: ${whole(repeated)}; the kill of delivery explains up to ${whole(explained)}`,
  ];
}
