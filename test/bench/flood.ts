/**
 * `npm run bench:flood`: what the flood of one source costs twenty others, whose users are in the same partitions. The twenty send
 * single calls: alone, beside the flood, which sends batches as fast as ingest takes them, with default limits, and beside as many
 * calls in small batches at an even rate, which shows what is the cost of the calls and what that of the flood.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { mapValues, startCpuMeter } from './figures/measure.ts';
import { distribution, type Distribution } from './figures/statistics.ts';
import { hundredths, table, tenths, whole } from './figures/table.ts';
import { createCalls } from './load/calls.ts';
import { connect, postHead } from './load/connection.ts';
import { createLoad, type Load, type Sent } from './load/load.ts';
import { connected, headersOf, startSystem } from './pipeline/services.ts';
import { runBench, say, type Bench } from './processes/bench.ts';
import { faultsOf, startReceiver, type Receiver } from './receivers/receiver.ts';

const sharedSecret = randomBytes(16).toString('hex');
const others = Array.from({ length: 20 }, (_, nth) => `other-${nth}`);
/** Of each of the others. */
const ratePerSecond = 5;
const seconds = Number(process.argv[2] ?? 60);
const callsOfEach = ratePerSecond * seconds;
const callsOfRun = callsOfEach * others.length;
const flood = {
  id: 'flood',
  callsOfBatch: 1_000,
  callsOfEvenBatch: 10,
  inFlight: 4,
  pauseAfterRefusalMs: 50,
};
const arriveWithinMs = 180_000;

interface Run {
  readonly sentToAccepted: Distribution;
  readonly acceptedToReceived: Distribution;
  readonly sentToReceived: Distribution;
  readonly lost: number;
  readonly faults: readonly string[];
  /** Of a core, by process. */
  readonly cpu: Readonly<Record<string, number>>;
}

interface Results {
  readonly alone: Run;
  readonly beside: Run;
  readonly even: Run;
  readonly flooded: Flooded;
}

interface Flooded {
  accepted: number;
  refused: number;
}

await runBench(measure, report);

async function measure(bench: Bench): Promise<Results> {
  const { brokers, folder, resources, brokerDied } = bench;
  const [receiver, ofFlood] = [resources.use(startReceiver()), resources.use(startReceiver())];
  const [[url], [floodUrl]] = [
    await receiver.listen([{ kind: 'answers' }]),
    await ofFlood.listen([{ kind: 'answers' }]),
  ];
  const parts = [
    connected(flood.id, floodUrl, sharedSecret),
    ...others.map((id) => connected(id, url, sharedSecret)),
  ];
  say('starting the services');
  const system = resources.use(
    await startSystem({
      brokers,
      partitions: 6,
      configuration: {
        sources: parts.flatMap(({ sources }) => sources),
        destinations: parts.flatMap(({ destinations }) => destinations),
      },
      folder,
    }),
  );
  const call = createCalls();
  const loads = others.map((id, nth) =>
    createLoad({
      port: system.ingestPort,
      path: '/v1/track',
      headers: headersOf(id),
      // The calls of a run have numbers in a row over all sources.
      body: (number) =>
        call(Math.floor(number / callsOfEach) * callsOfRun + nth * callsOfEach + (number % callsOfEach)),
    }),
  );
  const run = (nth: number): Promise<Run> =>
    Promise.race([measureRun(loads, receiver, nth, system.pids), system.died, brokerDied]);
  const runBesideFlood = async (nth: number): Promise<{ readonly run: Run; readonly flooded: Flooded }> => {
    const over = new AbortController();
    const flooded: Flooded = { accepted: 0, refused: 0 };
    const flooding = Promise.all(
      Array.from({ length: flood.inFlight }, () => floodOn(system.ingestPort, over.signal, flooded)),
    );
    const measured = await run(nth);
    over.abort();
    await flooding;
    return { run: measured, flooded };
  };
  // With the flood too: code that runs for the first time would count as its cost.
  say('warming up');
  await runBesideFlood(0);
  say(`alone: ${callsOfRun} calls in ${seconds} s`);
  const alone = await run(1);
  say('beside the flood');
  const { run: beside, flooded } = await runBesideFlood(2);
  say('beside an even rate');
  const small = batchOf(flood.callsOfEvenBatch);
  const evenly = createLoad({
    port: system.ingestPort,
    path: '/v1/batch',
    headers: headersOf(flood.id),
    body: () => small,
  });
  const batchesPerSecond = Math.round(flooded.accepted / seconds / flood.callsOfEvenBatch);
  const [even] = await Promise.all([
    run(3),
    evenly.openLoop({ count: batchesPerSecond * seconds, ratePerSecond: batchesPerSecond }),
  ]);
  return { alone, beside, even, flooded };
}

async function measureRun(
  loads: readonly Load[],
  receiver: Receiver,
  nth: number,
  pids: Readonly<Record<string, number>>,
): Promise<Run> {
  const first = nth * callsOfRun;
  await receiver.expect({ first, count: callsOfRun });
  const meter = startCpuMeter(pids);
  const sent = await Promise.all(loads.map((load) => load.openLoop({ count: callsOfEach, ratePerSecond })));
  const cpu = mapValues(meter.read(), (used) => used / seconds);
  await receiver.complete(arriveWithinMs);
  const { receivedAt, samples } = await receiver.handOver();
  const ofAll = (key: 'sentAt' | 'acceptedAt'): readonly number[] =>
    sent.flatMap((one: Sent) => [...one[key]]);
  const [sentAt, acceptedAt] = [ofAll('sentAt'), ofAll('acceptedAt')];
  const between = (from: readonly number[], to: readonly number[]): Distribution =>
    distribution(to.map((at, index) => at - (from[index] ?? NaN)));
  return {
    sentToAccepted: between(sentAt, acceptedAt),
    acceptedToReceived: between(acceptedAt, [...receivedAt]),
    sentToReceived: between(sentAt, [...receivedAt]),
    lost: receivedAt.filter((at) => Number.isNaN(at)).length,
    faults: faultsOf(samples, sharedSecret),
    cpu,
  };
}

function batchOf(count: number): string {
  const batch = Array.from({ length: count }, (_, nth) => ({
    type: 'track',
    userId: `user-${nth}`,
    event: 'Flood',
    properties: { note: 'x'.repeat(300) },
  }));
  return JSON.stringify({ batch });
}

/** Sends batches until `over`, on one connection. */
async function floodOn(port: number, over: AbortSignal, flooded: Flooded): Promise<void> {
  const body = batchOf(flood.callsOfBatch);
  const request = postHead('/v1/batch', headersOf(flood.id), body.length) + body;
  const connection = await connect(port);
  while (!over.aborted) {
    const { status } = await connection.exchange(request);
    if (status === 200) flooded.accepted += flood.callsOfBatch;
    else {
      flooded.refused += 1;
      await sleep(flood.pauseAfterRefusalMs);
    }
  }
  connection.close();
}

function report({ alone, beside, even, flooded }: Results): Promise<{ readonly sound: boolean }> {
  const hops = {
    'sent → accepted': 'sentToAccepted',
    'accepted → received': 'acceptedToReceived',
    'sent → received': 'sentToReceived',
  } as const;
  const rows = Object.entries(hops).flatMap(([name, hop]) =>
    (['p50', 'p99'] as const).map((figure) => {
      const ofFlood = beside[hop][figure];
      const without = [alone, even].map((one) => one[hop][figure]);
      return [
        `${name}, ${figure}`,
        ...[...without, ofFlood].map(tenths),
        ...without.map((ms) => hundredths(ofFlood / ms)),
      ];
    }),
  );
  const cpu = Object.entries(beside.cpu).map(([name, used]) => [
    `CPU of a core, ${name}`,
    ...[alone.cpu[name], even.cpu[name], used].map((cores) => hundredths(cores ?? NaN)),
    '',
    '',
  ]);
  process.stdout.write(
    `${table(['milliseconds', 'alone', 'even rate', 'flood', 'flood / alone', 'flood / even'], [...rows, ...cpu])}\n`,
  );
  process.stdout.write(
    `\nThe flood: ${whole(flooded.accepted / seconds)} calls a second accepted, ${whole(flooded.refused / seconds)} requests a second refused\n`,
  );
  const faults = [alone, beside, even].flatMap((one) => one.faults);
  for (const fault of faults) say(fault);
  const lost = alone.lost + beside.lost + even.lost;
  if (lost > 0) say(`${lost} calls of the twenty did not arrive`);
  return Promise.resolve({ sound: lost === 0 && faults.length === 0 });
}
