/**
 * `npm run bench:ingest`: measures how many calls ingest accepts in a second of CPU time, single and in batches of
 * twenty, beside a bare server of fastify and kafkajs that validates nothing. The two take turns, so that a noisy minute
 * affects both. The exit code is 1 if a call was not answered with 200; a missed goal does not change it.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { obey, runBench, say, type Bench } from './processes/bench.ts';
import { createCalls } from './load/calls.ts';
import { describeGoal, type Goal } from './delivery/report.ts';
import { renderHotSpots } from './figures/hot-spots.ts';
import { prepareTopics, startBareServer, startIngest, type Contender } from './ingest/contenders.ts';
import { readCommandLine, type Form, type Options } from './ingest/options.ts';
import { createLoad, type Load } from './load/load.ts';
import { renderMachine, type Machine } from './figures/machine.ts';
import { startCpuMeter, type ByProcess } from './figures/measure.ts';
import { profileOf } from './pipeline/services.ts';
import { spread, type Spread } from './figures/statistics.ts';
import { percent, table, tenths, whole, type Row } from './figures/table.ts';

const callsPerBatch = 20;
const goals: Readonly<Record<Form, number>> = { single: 0.6, batch: 0.75 };
const titles: Readonly<Record<Form, string>> = {
  single: 'single calls',
  batch: `batches of ${callsPerBatch}`,
};

/** Microseconds of CPU time for an event, in each run. */
interface Costs {
  readonly ingest: number[];
  readonly bare: number[];
  readonly broker: number[];
}

interface Results {
  readonly machine: Machine;
  readonly options: Options;
  readonly costs: Readonly<Partial<Record<Form, Costs>>>;
}

await obey(readCommandLine(process.argv.slice(2)), (options) =>
  runBench((bench) => measure(bench, options), report),
);

async function measure(bench: Bench, options: Options): Promise<Results> {
  const { machine, resources, brokerPid } = bench;
  const { inFlight, runs, warmUp, events, profileFolder } = options;
  if (profileFolder !== undefined) await mkdir(profileFolder, { recursive: true });
  say('starting the servers');
  await prepareTopics(bench, options.partitions);
  const ingest = resources.use(
    await startIngest(bench, profileFolder && path.resolve(profileOf(profileFolder, 'ingest'))),
  );
  const bare = resources.use(await startBareServer(bench));
  const pids = { ingest: ingest.pid, bare: bare.pid, ...(brokerPid !== undefined && { broker: brokerPid }) };

  const costs: Results['costs'] & Partial<Record<Form, Costs>> = {};
  for (const form of options.forms) {
    const loads = { ingest: loadOn(ingest, form), bare: loadOn(bare, form) };
    const run = async (load: Load, events: number): Promise<ByProcess> => {
      const count = Math.ceil(events / (form === 'batch' ? callsPerBatch : 1));
      const meter = startCpuMeter(pids);
      await Promise.race([load.closedLoop({ count, inFlight }), bench.brokerDied]);
      return meter.read();
    };
    say(`${titles[form]}: warming up, ${warmUp} calls each`);
    await run(loads.ingest, warmUp);
    await run(loads.bare, warmUp);
    const found: Costs = { ingest: [], bare: [], broker: [] };
    for (let round = 1; round <= runs; round += 1) {
      say(`${titles[form]}: round ${round} of ${runs}, ${events} calls each`);
      const ours = await run(loads.ingest, events);
      const theirs = await run(loads.bare, events);
      found.ingest.push(((ours['ingest'] ?? NaN) * 1e6) / events);
      found.broker.push(((ours['broker'] ?? NaN) * 1e6) / events);
      found.bare.push(((theirs['bare'] ?? NaN) * 1e6) / events);
    }
    costs[form] = found;
  }
  return { machine, options, costs };
}

function loadOn({ port, headers }: Contender, form: Form): Load {
  const call = createCalls();
  if (form === 'single') return createLoad({ port, headers, path: '/v1/track', body: call });
  const body = (number: number): string => {
    const calls = Array.from({ length: callsPerBatch }, (_, index) => call(number * callsPerBatch + index));
    return `{"batch":[${calls.join(',')}],"sentAt":"2026-11-21T07:29:33.500Z"}`;
  };
  return createLoad({ port, headers, path: '/v1/batch', body });
}

async function report({ machine, options, costs }: Results): Promise<{ readonly sound: boolean }> {
  const { jsonFile, profileFolder, events, inFlight } = options;
  const sections = Object.entries(costs).map(([form, found]) => renderForm(form as Form, found, options));
  const head = [
    `Tailrace ingest bench, ${renderMachine(machine)}`,
    `Track calls of 1,024 bytes, ${whole(events)} in each run, ${inFlight} requests in flight, ${options.partitions} partitions`,
    ...(profileFolder === undefined ? [] : ['With profiling: CPU times are higher than without.']),
  ].join('\n');
  process.stdout.write(`${[head, ...sections].join('\n\n')}\n`);
  if (jsonFile !== undefined) {
    await writeFile(jsonFile, `${JSON.stringify({ machine, options, costs }, null, 2)}\n`);
  }
  if (profileFolder !== undefined) {
    process.stdout.write(`\ningest: ${await renderHotSpots(profileOf(profileFolder, 'ingest'))}`);
  }
  // A call that is not answered with 200 ends the run.
  return { sound: true };
}

function renderForm(form: Form, { ingest, bare, broker }: Costs, { runs }: Options): string {
  const row = (title: string, { median, min, max }: Spread, format = whole): Row => [
    title,
    ...[median, min, max].map(format),
  ];
  const perSecond = (costs: readonly number[]): Spread => spread(costs.map((cost) => 1e6 / cost));
  const ratio = perSecond(ingest).median / perSecond(bare).median;
  const rows = [
    row('accepted a CPU second, ingest', perSecond(ingest)),
    row('accepted a CPU second, bare server', perSecond(bare)),
    row('CPU an event, ingest, µs', spread(ingest), tenths),
    row('CPU an event, bare server, µs', spread(bare), tenths),
    row('apart: broker, with ingest, µs', spread(broker), tenths),
  ];
  const goal = describeGoal('ingest beside the bare server', ratio, '≥', goals[form], percent);
  const title = titles[form].charAt(0).toUpperCase() + titles[form].slice(1);
  return `${table([title, `median of ${runs}`, 'min', 'max'], rows)}\n${verdict(goal)}`;
}

function verdict({ what, is, should, met }: Goal): string {
  return `${met ? 'met   ' : 'MISSED'}  ${what}: ${is} (goal ${should})`;
}
