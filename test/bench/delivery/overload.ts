/**
 * Measures one destination that gets more deliveries than it accepts, or refuses all, beside six healthy ones: how often
 * a waiting record is rewritten, how the others are affected, and whether everything is delivered after the inflow ends.
 *
 * Without --long, the retry schedule is scaled down, so that the run ends within minutes. The number of rewrites depends
 * on the ratio of the backlog to the delays of the retry topics, and not on their absolute length.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from '../processes/bench.ts';
import type { Behaviour } from '../receivers/receiver.ts';
import { distribution, type Distribution } from '../figures/statistics.ts';
import { hundredths, table, tenths, whole } from '../figures/table.ts';
import { retrySchedule } from '../pipeline/services.ts';
import type { Account } from './account.ts';
import { refusingUrl } from './isolation.ts';
import { scrape } from './metrics.ts';
import type { Overload } from './options.ts';
import { describeGoal, type Goal, type Report } from './report.ts';
import { openStage, settleMs, type Context } from './stage.ts';
import { inTurn, lagBySecond, latencies, select } from './wave.ts';

interface Run {
  readonly overload: Overload;
  readonly schedule: string;
  /** Latencies of the six others, alone and during the overload. */
  readonly alone: Distribution;
  readonly beside: Distribution;
  readonly lagOfOthers: readonly number[];
  readonly rewrites: Distribution & { readonly mean: number };
  readonly deferrals: Distribution;
  readonly steps: number;
  /** From the end of the inflow until every delivery was delivered or dead; NaN if that took too long. */
  readonly drainSeconds: number;
  readonly arrived: number;
  readonly written: number;
  readonly account: Account;
}

const acceptsPerSecond = 50;
const inflowPerSecond = 200;
const othersPerSecond = 150;
const others = [1, 2, 3, 4, 5, 6];
const isOther = (destination: number): boolean => destination !== 0;
const isBad = (destination: number): boolean => destination === 0;
const warmUpSeconds = 8;
const aloneSeconds = 15;
const titles: Readonly<Record<Overload, string>> = {
  serial: 'accepts 50/s, one at a time',
  throttling: 'accepts 50/s, 429 beyond',
  dead: 'refuses connections',
};

export async function measureOverload(context: Context): Promise<Report> {
  const runs: Run[] = [];
  for (const overload of context.options.overloads) runs.push(await run(context, overload));
  return {
    title:
      `Overload: ${inflowPerSecond}/s for ${context.options.overloadSeconds} s to one destination, ` +
      `${othersPerSecond}/s to six others`,
    tables: [
      table(
        ['', 'rewrites p50', 'p99', 'most', 'mean', 'deferred, most', 'arrived', 'of', 'drained in s'],
        runs.map(({ overload, rewrites, deferrals, arrived, written, drainSeconds }) => [
          titles[overload],
          ...[rewrites.p50, rewrites.p99, rewrites.max].map(whole),
          hundredths(rewrites.mean),
          ...[deferrals.max, arrived, written, drainSeconds].map(whole),
        ]),
      ),
      table(
        ['the six others', 'alone p50 ms', 'p99', 'max', 'beside it p50 ms', 'p99', 'max', 'lag at end'],
        runs.map(({ overload, alone, beside, lagOfOthers }) => [
          titles[overload],
          ...[alone.p50, alone.p99, alone.max, beside.p50, beside.p99, beside.max].map(tenths),
          whole(lagOfOthers.at(-1) ?? NaN),
        ]),
      ),
      runs.map(({ overload, schedule }) => `${titles[overload]}: schedule ${schedule}`).join('\n'),
    ],
    goals: runs.flatMap(goalsOf),
    accounts: runs.map(({ account }) => account),
    figures: runs,
  };
}

function goalsOf({ overload, rewrites, steps, arrived, written, alone, beside }: Run): Goal[] {
  const title = titles[overload];
  const others = describeGoal(
    `${title}: p99 of the others, to alone`,
    beside.p99 / alone.p99,
    '≤',
    1.2,
    hundredths,
  );
  if (overload === 'dead') {
    return [
      describeGoal(`${title}: writes of a record, schedule's steps`, rewrites.max, '≤', steps, whole),
      others,
    ];
  }
  return [
    describeGoal(`${title}: rewrites of a record, at most`, rewrites.max, '≤', 5, whole),
    describeGoal(`${title}: share delivered afterwards`, arrived / written, '≥', 1, hundredths),
    others,
  ];
}

function behaviourOf(overload: Overload): Behaviour {
  if (overload === 'throttling') return { kind: 'throttles', perSecond: acceptsPerSecond };
  return { kind: 'is serial', eachMs: 1_000 / acceptsPerSecond };
}

/** The retry schedule, and how long the bench waits after the inflow for the last delivery. */
function planOf(
  overload: Overload,
  seconds: number,
): { readonly schedule: string; readonly drainMs: number } {
  const long = seconds >= 300;
  if (overload === 'dead') {
    // Deliveries end with the retry schedule, which takes hours, so the long run does not wait for it. A schedule of ten
    // minutes would move records between retry topics twenty times as often as the usual one.
    return long ? { schedule: retrySchedule, drainMs: 0 } : { schedule: '1s,5s,20s,1m', drainMs: 105_000 };
  }
  const backlogSeconds = (seconds * (inflowPerSecond - acceptsPerSecond)) / acceptsPerSecond;
  return {
    schedule: long ? retrySchedule : '1s,5s,20s,1m,1m,1m,1m,20s',
    drainMs: (backlogSeconds * 1.5 + 60) * 1_000,
  };
}

async function run(context: Context, overload: Overload): Promise<Run> {
  const { options, receiver } = context;
  const seconds = options.overloadSeconds;
  const { schedule, drainMs } = planOf(overload, seconds);
  const [bad, ...rest] = await receiver.listen([
    behaviourOf(overload),
    ...others.map((): Behaviour => ({ kind: 'answers' })),
  ]);
  const urls = [overload === 'dead' ? refusingUrl(0) : bad, ...rest];
  await using stage = await openStage(context, { name: `overload-${overload}`, urls, schedule });
  const service = await stage.startService();

  const warmUp = othersPerSecond * warmUpSeconds;
  const alone = othersPerSecond * aloneSeconds;
  const together = (othersPerSecond + inflowPerSecond) * seconds;
  // Four deliveries to the bad destination for every three to the others.
  const turns = others.flatMap((other, place) =>
    place % 3 === 0 ? [0, other, 0] : place % 3 === 1 ? [other, 0] : [0, other],
  );
  const wave = await stage.wave([...inTurn(warmUp + alone, others), ...inTurn(together, turns)]);
  say(`overload, ${titles[overload]}: the others alone, ${warmUpSeconds + aloneSeconds} s`);
  await stage.feedAtRate(wave, othersPerSecond, { to: warmUp + alone });
  say(`overload, ${titles[overload]}: ${seconds} s of inflow`);
  await stage.feedAtRate(wave, othersPerSecond + inflowPerSecond, { from: warmUp + alone });
  say(`overload, ${titles[overload]}: waiting for the last delivery, at most ${whole(drainMs / 1_000)} s`);
  const ended = performance.now();
  const settled = await stage.settled(wave, drainMs);
  const drainSeconds = settled ? (performance.now() - ended) / 1_000 : NaN;
  const metrics = await scrape(service.metricsPort);
  say(
    `overload, ${titles[overload]}: deferred ${metrics.sum('tailrace_deliveries_put_off_total')}, ` +
      `parked ${metrics.sum('tailrace_deliveries_parked_total')}`,
  );
  await sleep(settleMs);
  const { arrivals, copies, account } = await stage.conclude(wave);
  const { receivedAt } = arrivals;
  const bads = select(wave, { of: isBad });
  const of = (figures: Uint16Array): number[] => bads.map((index) => figures[index] ?? NaN);
  const rewrites = of(copies.rewrites);
  return {
    overload,
    schedule,
    drainSeconds,
    account,
    alone: latencies(wave, receivedAt, { from: warmUp, to: warmUp + alone }),
    beside: latencies(wave, receivedAt, { from: warmUp + alone, of: isOther }),
    lagOfOthers: lagBySecond(wave, receivedAt, { from: warmUp + alone, of: isOther }),
    rewrites: {
      ...distribution(rewrites),
      mean: rewrites.reduce((sum, count) => sum + count, 0) / rewrites.length,
    },
    deferrals: distribution(of(copies.deferrals)),
    steps: schedule.split(',').length,
    arrived: bads.filter((index) => !Number.isNaN(receivedAt[index] ?? NaN)).length,
    written: bads.length,
  };
}
