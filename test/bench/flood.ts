/**
 * `npm run bench:flood`: what the flood of one source costs twenty others, whose users are in the same partitions. The twenty send
 * single calls, first alone and then beside the flood, which sends batches as fast as ingest takes them, with default limits.
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
const flood = { id: 'flood', callsOfBatch: 1_000, inFlight: 4, pauseAfterRefusalMs: 50 };
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
  say('warming up');
  await run(0);
  say(`alone: ${callsOfRun} calls in ${seconds} s`);
  const alone = await run(1);
  say('beside the flood');
  const over = new AbortController();
  const flooded: Flooded = { accepted: 0, refused: 0 };
  const flooding = Promise.all(
    Array.from({ length: flood.inFlight }, () => floodOn(system.ingestPort, over.signal, flooded)),
  );
  const beside = await run(2);
  over.abort();
  await flooding;
  return { alone, beside, flooded };
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

/** Sends batches until `over`, on one connection. */
async function floodOn(port: number, over: AbortSignal, flooded: Flooded): Promise<void> {
  const calls = Array.from({ length: flood.callsOfBatch }, (_, nth) => ({
    type: 'track',
    userId: `user-${nth}`,
    event: 'Flood',
    properties: { note: 'x'.repeat(300) },
  }));
  const body = JSON.stringify({ batch: calls });
  const request = postHead('/v1/batch', headersOf(flood.id), body.length) + body;
  const connection = await connect(port);
  while (!over.aborted) {
    const { status } = await connection.exchange(request);
    if (status === 200) flooded.accepted += calls.length;
    else {
      flooded.refused += 1;
      await sleep(flood.pauseAfterRefusalMs);
    }
  }
  connection.close();
}

function report({ alone, beside, flooded }: Results): Promise<{ readonly sound: boolean }> {
  const hops = {
    'sent → accepted': 'sentToAccepted',
    'accepted → received': 'acceptedToReceived',
    'sent → received': 'sentToReceived',
  } as const;
  const rows = Object.entries(hops).flatMap(([name, hop]) =>
    (['p50', 'p99'] as const).map((figure) => {
      const [without, withFlood] = [alone[hop][figure], beside[hop][figure]];
      return [`${name}, ${figure}`, tenths(without), tenths(withFlood), hundredths(withFlood / without)];
    }),
  );
  const cpu = Object.entries(beside.cpu).map(([name, used]) => [
    `CPU of a core, ${name}`,
    hundredths(alone.cpu[name] ?? NaN),
    hundredths(used),
    '',
  ]);
  process.stdout.write(
    `${table(['milliseconds', 'alone', 'beside the flood', 'ratio'], [...rows, ...cpu])}\n`,
  );
  process.stdout.write(
    `\nThe flood: ${whole(flooded.accepted / seconds)} calls a second accepted, ${whole(flooded.refused / seconds)} requests a second refused\n`,
  );
  const faults = [...alone.faults, ...beside.faults];
  for (const fault of faults) say(fault);
  const lost = alone.lost + beside.lost;
  if (lost > 0) say(`${lost} calls of the twenty did not arrive`);
  return Promise.resolve({ sound: lost === 0 && faults.length === 0 });
}
