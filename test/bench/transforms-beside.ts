/**
 * What a transform that loops costs other destinations, through all services: single calls to destinations with and without a transform, alone,
 * beside calls of another source whose transform throws, which become dead letters too, and beside as many whose transform loops, in turns.
 * `node test/bench/transforms-beside.ts [seconds of a turn]`.
 */
import { randomBytes } from 'node:crypto';
import { distribution } from './figures/statistics.ts';
import { hundredths, table, tenths } from './figures/table.ts';
import { createCalls } from './load/calls.ts';
import { createLoad } from './load/load.ts';
import { connected, headersOf, startSystem } from './pipeline/services.ts';
import { runBench, say, type Bench } from './processes/bench.ts';
import { faultsOf, startReceiver } from './receivers/receiver.ts';

const sharedSecret = randomBytes(16).toString('hex');
const round = ['alone', 'throws', 'loops', 'loops', 'throws', 'alone', 'throws', 'loops', 'alone'] as const;
type Kind = (typeof round)[number];
/** The first turn is a warm-up. */
const turns: readonly Kind[] = ['loops', ...round, ...round];
const codes: Readonly<Record<string, string>> = {
  shaped: '(event) => ({ ...event })',
  throws: "() => { throw new Error('no'); }",
  loops: '() => { for (;;); }',
};
const measured = ['plain', 'shaped'] as const;
const ratePerSecond = 50;
const seconds = Number(process.argv[2] ?? 8);
const callsOfTurn = ratePerSecond * seconds;
const arriveWithinMs = 60_000;

type Latencies = Record<(typeof measured)[number], number[]>;

interface Results extends Record<Kind, Latencies> {
  readonly faults: string[];
}

await runBench(measure, report);

async function measure({ brokers, folder, resources, brokerDied }: Bench): Promise<Results> {
  const receiver = resources.use(startReceiver());
  const [url] = await receiver.listen([{ kind: 'answers' }]);
  say('starting the services');
  const parts = [...measured, 'throws', 'loops'].map((id) => {
    const { sources, destinations } = connected(id, url, sharedSecret);
    const code = codes[id];
    const transformed = destinations.map((one) =>
      code === undefined ? one : { ...one, transform: { code } },
    );
    return { sources, destinations: transformed };
  });
  const configuration = {
    sources: parts.flatMap(({ sources }) => sources),
    destinations: parts.flatMap(({ destinations }) => destinations),
  };
  const system = resources.use(await startSystem({ brokers, partitions: 6, configuration, folder }));
  const call = createCalls();
  const loadOf = (id: string, nth: number) =>
    createLoad({
      port: system.ingestPort,
      path: '/v1/track',
      headers: headersOf(id),
      // Those of a turn have numbers in a row over the measured ones.
      body: (number) =>
        call(
          (Math.floor(number / callsOfTurn) * measured.length + nth) * callsOfTurn + (number % callsOfTurn),
        ),
    });
  const loads = measured.map((id, nth) => loadOf(id, nth));
  const beside = { alone: undefined, throws: loadOf('throws', 0), loops: loadOf('loops', 0) };
  const none = (): Latencies => ({ plain: [], shaped: [] });
  const results: Results = { alone: none(), throws: none(), loops: none(), faults: [] };
  const turn = async (kind: Kind, nth: number): Promise<void> => {
    const count = callsOfTurn * measured.length;
    await receiver.expect({ first: nth * count, count });
    const rate = { count: callsOfTurn, ratePerSecond };
    const [sent] = await Promise.all([
      Promise.all(loads.map((load) => load.openLoop(rate))),
      beside[kind]?.openLoop(rate),
    ]);
    await receiver.complete(arriveWithinMs);
    const { receivedAt, samples } = await receiver.handOver();
    results.faults.push(...faultsOf(samples, sharedSecret));
    for (const [of, id] of measured.entries()) {
      const took = Array.from(
        sent[of]?.sentAt ?? [],
        (at, n) => (receivedAt[of * callsOfTurn + n] ?? NaN) - at,
      );
      const lost = took.filter((ms) => Number.isNaN(ms)).length;
      if (lost > 0) results.faults.push(`${lost} calls of ${id} did not arrive`);
      if (nth > 0) results[kind][id].push(...took);
    }
  };
  for (const [nth, kind] of turns.entries()) {
    say(`turn ${nth} of ${turns.length - 1}: ${kind}`);
    await Promise.race([turn(kind, nth), system.died, brokerDied]);
  }
  return results;
}

function report({ faults, ...of }: Results): Promise<{ readonly sound: boolean }> {
  const rows = measured.flatMap((id) =>
    (['p50', 'p99'] as const).map((figure) => {
      const ms = (kind: Kind): number => distribution(of[kind][id])[figure];
      const name = id === 'plain' ? 'without a transform' : 'with a transform';
      const kinds = ['alone', 'throws', 'loops'] as const;
      const ratios = (['alone', 'throws'] as const).map((other) => hundredths(ms('loops') / ms(other)));
      return [`${figure} ${name}`, ...kinds.map((kind) => tenths(ms(kind))), ...ratios];
    }),
  );
  const columns = ['sent → received, ms', 'alone', 'throws', 'loops', 'loops / alone', 'loops / throws'];
  process.stdout.write(`${table(columns, rows)}\n`);
  for (const fault of faults) say(fault);
  return Promise.resolve({ sound: faults.length === 0 });
}
