/**
 * `npm run bench:delivery`: measures the delivery service alone, fed through Kafka, beside a bare loop with the same
 * libraries. Each scenario prints its figures when it has ended. The exit code is 1 if a delivery was lost, altered or
 * wrongly signed. A missed goal does not change the exit code, because people judge the figures.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { obey, runBench, type Bench } from './processes/bench.ts';
import { measureBacklog } from './delivery/backlog.ts';
import { measureBurst } from './delivery/burst.ts';
import { measureCost } from './delivery/cost.ts';
import { measureFleet } from './delivery/fleet.ts';
import { measureIsolation } from './delivery/isolation.ts';
import {
  measureManyBad,
  measureOneBad,
  measureRateLimited,
  measureSameOrigin,
  measureTenThousand,
} from './delivery/many.ts';
import { readCommandLine, type Options, type Scenario } from './delivery/options.ts';
import { measureOverload } from './delivery/overload.ts';
import { measurePunctuality } from './delivery/punctual.ts';
import { measureRecovery } from './delivery/recovery.ts';
import { measureReplace } from './delivery/replace.ts';
import { isReportSound, renderReport, type Report } from './delivery/report.ts';
import type { Context } from './delivery/stage.ts';
import { warmUp } from './delivery/warm-up.ts';
import { renderHotSpots } from './figures/hot-spots.ts';
import { renderMachine } from './figures/machine.ts';
import { startReceiver } from './receivers/receiver.ts';

const measures: Readonly<Record<Scenario, (context: Context) => Promise<Report>>> = {
  cost: measureCost,
  isolation: measureIsolation,
  fleet: measureFleet,
  overload: measureOverload,
  punctual: measurePunctuality,
  backlog: measureBacklog,
  'one-bad': measureOneBad,
  'many-bad': measureManyBad,
  'rate-limited': measureRateLimited,
  'same-origin': measureSameOrigin,
  'ten-thousand': measureTenThousand,
  burst: measureBurst,
  recovery: measureRecovery,
  replace: measureReplace,
};

await obey(readCommandLine(process.argv.slice(2)), (options) =>
  runBench(
    (bench) => measure(bench, options),
    (results) => report(results, options),
  ),
);

type Results = Pick<Bench, 'machine'> & {
  readonly options: Options;
  readonly reports: Readonly<Partial<Record<Scenario, Report>>>;
};

async function measure(bench: Bench, given: Options): Promise<Results> {
  const { machine, resources } = bench;
  const options = { ...given, profileFolder: given.profileFolder && path.resolve(given.profileFolder) };
  if (options.profileFolder !== undefined) await mkdir(options.profileFolder, { recursive: true });
  process.stdout.write(`Tailrace delivery bench, ${renderMachine(machine)}\n`);
  const context: Context = {
    bench,
    options,
    receiver: resources.use(startReceiver()),
    sharedSecret: randomBytes(16).toString('hex'),
    numbers: { next: 0 },
  };
  await warmUp(context);
  const reports: Partial<Record<Scenario, Report>> = {};
  for (const scenario of options.scenarios) {
    const report = (reports[scenario] = await measures[scenario](context));
    process.stdout.write(`\n${renderReport(report)}\n`);
  }
  return { machine, options, reports };
}

async function report(
  results: Results,
  { jsonFile, profileFolder }: Options,
): Promise<{ readonly sound: boolean }> {
  if (jsonFile !== undefined) await writeFile(jsonFile, `${JSON.stringify(results, null, 2)}\n`);
  if (profileFolder !== undefined) {
    for (const file of await readdir(profileFolder)) {
      process.stdout.write(`\n${path.basename(file, '.cpuprofile')}: `);
      process.stdout.write(await renderHotSpots(path.join(profileFolder, file)));
    }
  }
  return { sound: Object.values(results.reports).every(isReportSound) };
}
