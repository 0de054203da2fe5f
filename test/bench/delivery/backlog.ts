/**
 * Measures a backlog in `deliveries` that exists when the service starts. Memory must stay small and flat, and the last
 * tenth must be as fast as the first. The bare loop then reads the same records.
 */
import { say } from '../processes/bench.ts';
import { sharedNowMs } from '../processes/clock.ts';
import { sampleMemory, startCpuMeter } from '../figures/measure.ts';
import type { Behaviour } from '../receivers/receiver.ts';
import { distribution, isFlat, trend, type Trend } from '../figures/statistics.ts';
import { hundredths, mebibytes, table, whole } from '../figures/table.ts';
import { scrape } from './metrics.ts';
import { startBareLoop } from './bare-loop.ts';
import { describeGoal, type Report } from './report.ts';
import { openStage, type Context, type Stage } from './stage.ts';
import { inTurn, throughputByTenth, type Wave } from './wave.ts';

interface Run {
  readonly memory: Trend;
  /** Deliveries a second in each tenth. */
  readonly tenths: readonly number[];
  readonly cpuMicroseconds: number;
}

const destinations = Array.from({ length: 10 }, (_, place) => place);
const mostBytes = 250 * 2 ** 20;
/** Goal for the pace of the last tenth, as a ratio to the first. */
const slowest = 0.9;
const leastPerSecond = 400;

export async function measureBacklog(context: Context): Promise<Report> {
  const { options, receiver } = context;
  const urls = await receiver.listen(destinations.map((): Behaviour => ({ kind: 'answers' })));
  await using stage = await openStage(context, { name: 'backlog', urls });
  const wave = await stage.wave(inTurn(options.backlog, destinations));
  say(`backlog: writing ${options.backlog} records`);
  await stage.feedUnpaced(wave);

  say('backlog: the service');
  const service = await stage.startService({ untilReady: false });
  const ours = await run(context, wave, service.pid, () => service.ready);
  const deferred = (await scrape(service.metricsPort)).sum('tailrace_deliveries_put_off_total');
  const { account, copies } = await stage.conclude(wave);
  const rewrites = distribution(copies.rewrites);

  say('backlog: the bare loop');
  const theirs = await bareRun(context, stage, wave, urls);

  const row = (title: string, { memory, tenths, cpuMicroseconds }: Run) => [
    title,
    ...[memory.first, memory.last, memory.max].map(mebibytes),
    ...[tenths[0] ?? NaN, tenths[4] ?? NaN, tenths[9] ?? NaN, cpuMicroseconds].map(whole),
  ];
  const pace = (ours.tenths[9] ?? NaN) / (ours.tenths[0] ?? NaN);
  return {
    title: `Backlog: ${options.backlog} records waiting for ten destinations when the service starts`,
    tables: [
      table(
        ['', 'MiB, first third', 'last third', 'peak', '/s, first tenth', 'fifth', 'last', 'CPU µs'],
        [row('delivery service', ours), row('bare loop', theirs)],
      ),
      `Deferred because a lane was full: ${whole(deferred)} times; one record at most ${whole(rewrites.max)} times.`,
    ],
    goals: [
      describeGoal('deliveries deferred although no receiver is slow', deferred, '≤', 0, whole),
      describeGoal('resident memory, peak, MiB', ours.memory.max, '≤', mostBytes, mebibytes),
      describeGoal(
        'resident memory, last third to first',
        ours.memory.last / ours.memory.first,
        '≤',
        1.1,
        hundredths,
      ),
      describeGoal('pace, last tenth to first', pace, '≥', slowest, hundredths),
    ],
    accounts: [account],
    figures: { deferred, rewrites, ours, bare: theirs, flat: isFlat(ours.memory) },
  };
}

/** Watches the process until all of the wave has arrived. */
async function run({ receiver }: Context, wave: Wave, pid: number, ready: () => Promise<void>): Promise<Run> {
  const sampler = sampleMemory({ it: pid });
  const meter = startCpuMeter({ it: pid });
  try {
    await ready();
    const beganAt = sharedNowMs();
    await receiver.complete((wave.count / leastPerSecond) * 1_000 + 30_000);
    const { receivedAt } = await receiver.handOver();
    return {
      memory: trend(sampler.samples['it'] ?? []),
      tenths: throughputByTenth(receivedAt, beganAt),
      cpuMicroseconds: ((meter.read()['it'] ?? NaN) * 1e6) / wave.count,
    };
  } finally {
    sampler.stop();
  }
}

async function bareRun(context: Context, stage: Stage, wave: Wave, urls: readonly string[]): Promise<Run> {
  await context.receiver.expect(wave);
  await using loop = await startBareLoop(context, stage, { topic: stage.topics.deliveries, urls });
  return await run(context, wave, loop.pid, () => Promise.resolve());
}
