/**
 * Measures how two failing destinations of ten affect the other eight. One accepts connections and never answers; the
 * other refuses connections. Runs alternate between these two and two healthy destinations, with the same eight at the
 * same rate. Each run has its own stage, so that its retries do not affect other runs.
 */
import { say } from '../processes/bench.ts';
import { startCpuMeter } from '../figures/measure.ts';
import type { Behaviour } from '../receivers/receiver.ts';
import { median, type Distribution } from '../figures/statistics.ts';
import { hundredths, percent, table, tenths, whole } from '../figures/table.ts';
import type { Account } from './account.ts';
import { scrape } from './metrics.ts';
import { describeGoal, type Report } from './report.ts';
import { openStage, type Context } from './stage.ts';
import { inTurn, lagBySecond, lagGrows, latencies, select, throughput } from './wave.ts';

interface Run {
  readonly failing: boolean;
  readonly latencyMs: Distribution;
  readonly perSecond: number;
  /** Deliveries sent to healthy destinations that had not arrived at the end of each second. */
  readonly lag: readonly number[];
  /** Share of one core. */
  readonly cpuShare: number;
  readonly parked: number;
  readonly deferred: number;
  readonly account: Account;
}

const healthy = [0, 1, 2, 3, 4, 5, 6, 7];
const all = [...healthy, 8, 9];
const isHealthy = (destination: number): boolean => destination < healthy.length;
/** V8 compiles hot code in this time; only healthy destinations receive deliveries. */
const warmUpSeconds = 8;
const settlesWithinMs = 15_000;

export async function measureIsolation(context: Context): Promise<Report> {
  const { options } = context;
  const runs: Run[] = [];
  for (let round = 1; round <= options.runs; round += 1) {
    for (const failing of [false, true]) {
      say(`isolation: round ${round} of ${options.runs}, ${failing ? 'two of ten fail' : 'all healthy'}`);
      runs.push(await run(context, `isolation-${round}-${failing ? 'failing' : 'healthy'}`, failing));
    }
  }
  const [without, beside] = [runs.filter(({ failing }) => !failing), runs.filter(({ failing }) => failing)];
  const of = (some: readonly Run[], figure: (run: Run) => number): number => median(some.map(figure));
  const p99 = (run: Run): number => run.latencyMs.p99;
  const rows = runs.map((run) => [
    run.failing ? 'two of ten fail' : 'all healthy',
    ...[run.latencyMs.p50, run.latencyMs.p99, run.latencyMs.max].map(tenths),
    whole(run.perSecond),
    whole(median(run.lag)),
    whole(run.lag.at(-1) ?? NaN),
    percent(run.cpuShare),
    ...[run.parked, run.deferred].map(whole),
  ]);
  const ratio = of(beside, p99) / of(without, p99);
  const throughputRatio = of(beside, (run) => run.perSecond) / of(without, (run) => run.perSecond);
  const growing = beside.filter(({ lag }) => lagGrows(lag)).length;
  return {
    title: `Isolation: ten destinations, ${options.rate} deliveries a second for ${options.seconds} s; of the eight`,
    tables: [
      table(['', 'p50 ms', 'p99 ms', 'max ms', '/s', 'lag', 'lag at end', 'CPU', 'parked', 'deferred'], rows),
    ],
    goals: [
      describeGoal('p99 beside two that fail, to p99 without', ratio, '≤', 1.2, hundredths),
      describeGoal(
        'throughput beside two that fail, to that without',
        throughputRatio,
        '≥',
        0.95,
        hundredths,
      ),
      describeGoal('runs in which the lag of the eight grows', growing, '≤', 0, whole),
    ],
    accounts: runs.map(({ account }) => account),
    figures: runs,
  };
}

async function run(context: Context, name: string, failing: boolean): Promise<Run> {
  const { options, receiver } = context;
  const answers: Behaviour = { kind: 'answers' };
  const urls = failing
    ? [
        ...(await receiver.listen([...healthy.map(() => answers), { kind: 'is silent' } as const])),
        refusingUrl(0),
      ]
    : await receiver.listen(all.map(() => answers));
  await using stage = await openStage(context, { name, urls });
  const service = await stage.startService();
  const warmUp = options.rate * warmUpSeconds;
  const measured = options.rate * options.seconds;
  const wave = await stage.wave([...inTurn(warmUp, healthy), ...inTurn(measured, all)]);
  await stage.feedAtRate(wave, options.rate, { to: warmUp });
  const meter = startCpuMeter({ delivery: service.pid });
  await stage.feedAtRate(wave, options.rate, { from: warmUp });
  const cpuShare = (meter.read()['delivery'] ?? NaN) / options.seconds;
  const of = { from: warmUp, of: isHealthy };
  await stage.arrived(select(wave, { of: isHealthy }), settlesWithinMs);
  const metrics = await scrape(service.metricsPort);
  const { arrivals, account } = await stage.conclude(wave);
  const { receivedAt } = arrivals;
  return {
    failing,
    cpuShare,
    account,
    latencyMs: latencies(wave, receivedAt, of),
    perSecond: throughput(wave, receivedAt, of),
    lag: lagBySecond(wave, receivedAt, of),
    parked: metrics.sum('tailrace_deliveries_parked_total'),
    deferred: metrics.sum('tailrace_deliveries_put_off_total'),
  };
}

/** A URL that refuses connections. Each number has its own address, because a circuit breaker is for one address and port. */
export function refusingUrl(number: number): string {
  const host = number + 1;
  return `http://127.1.${host >> 8}.${host & 255}:1/hook`;
}
