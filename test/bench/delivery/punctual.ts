/**
 * How punctual retries are while a hundred thousand records wait, and what waiting costs. One part of them is laid
 * into the long tiers by the bench, as the service would have: a fifth falls due during the run, the rest in an hour.
 * The others are retries of the service itself, in the short tiers: a receiver turns one delivery in four away, and
 * asks for a wait.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration } from '@tailrace/topics';
import { say } from '../processes/bench.ts';
import { sharedNowMs } from '../processes/clock.ts';
import { startCpuMeter } from '../figures/measure.ts';
import { distribution } from '../figures/statistics.ts';
import { percent, table, tenths } from '../figures/table.ts';
import { startBareLoop } from './bare-loop.ts';
import { deliveryOf } from './bodies.ts';
import { scrape } from './metrics.ts';
import { describeGoal, type Report } from './report.ts';
import { openStage, type Context } from './stage.ts';
import { inTurn, select } from './wave.ts';

/** As the receiver asks for. */
const shortTiers = ['2s', '5s', '10s', '20s'] as const;
/** For what falls due in the run, and for what does not: a tier is read in order, so the two share none. */
const longTiers = { soon: ['2m', '5m'], later: ['1h', '2h'] } as const;
const tiers = [...shortTiers, ...longTiers.soon, ...longTiers.later];
const dueShare = 0.2;
const duePerSecond = 500;
const livePerSecond = 200;
const idleMs = 10_000;
const hourMs = 3_600_000;
/** What the bench lays into tiers is on its way to Kafka in parts of this many. */
const layAtOnce = 4_000;
const settlesWithinMs = 60_000;

export async function measurePunctuality(context: Context): Promise<Report> {
  const { options, receiver } = context;
  const urls = await receiver.listen([
    { kind: 'answers' },
    { kind: 'fails once', oneIn: 4, retryAfterSeconds: [1, 5, 10, 20] },
  ]);
  await using stage = await openStage(context, { name: 'punctual', urls, schedule: tiers.join(',') });
  await stage.createTopic('punctual.bare');
  await using bare = await startBareLoop(context, stage, { topic: 'punctual.bare', urls });
  const service = await stage.startService();

  const warmUp = options.warmUp;
  const { waiting } = options;
  const due = Math.round(waiting * dueShare);
  const dueSeconds = due / duePerSecond;
  const live = Math.round(livePerSecond * dueSeconds);
  const wave = await stage.wave([...inTurn(warmUp + waiting, [0]), ...inTurn(live, [1])]);
  say(`punctual: warming up, ${warmUp} deliveries`);
  await stage.feedAtOnce(wave, { to: warmUp });
  await stage.arrived(select(wave, { to: warmUp }), settlesWithinMs);

  say(`punctual: laying ${waiting} records into tiers`);
  const layMs = 5_000 + waiting / 5;
  const firstDueAt = Date.now() + layMs + idleMs;
  const tierOf = (place: number): string => {
    const those = place < due ? longTiers.soon : longTiers.later;
    return stage.topics.retryTier(parseDuration(those[place % 2] ?? '') ?? NaN);
  };
  const dueAtOf = (place: number): number =>
    place < due ? Math.round(firstDueAt + (place * 1_000) / duePerSecond) : firstDueAt + hourMs + place;
  for (let place = 0; place < waiting; place += layAtOnce) {
    const part = Array.from({ length: Math.min(layAtOnce, waiting - place) }, (_, offset) => place + offset);
    await Promise.all(
      part.map((place) => {
        const changes = { attempt: 1, step: 1, firstAttemptAt: Date.now(), dueAt: dueAtOf(place) };
        return stage.write(tierOf(place), deliveryOf(wave.first + warmUp + place, 'd0', changes));
      }),
    );
  }
  const earlyMs = firstDueAt - idleMs - Date.now();
  if (earlyMs < 0) throw new Error('the records were not in their tiers before the first was due');
  await sleep(earlyMs);

  say(`punctual: nothing is due for ${idleMs / 1_000} s`);
  const meter = startCpuMeter({ service: service.pid, bare: bare.pid });
  await sleep(idleMs - 1_000);
  const idle = meter.read();
  const readAhead = (await scrape(service.metricsPort)).sum('tailrace_deliveries_waiting');
  await sleep(firstDueAt - Date.now());

  say(`punctual: ${duePerSecond}/s fall due, ${livePerSecond}/s come in, for ${dueSeconds} s`);
  await stage.feedAtRate(wave, livePerSecond, { from: warmUp + waiting });
  const arriving = [
    ...select(wave, { from: warmUp, to: warmUp + due }),
    ...select(wave, { from: warmUp + waiting }),
  ];
  await stage.arrived(arriving, settlesWithinMs);
  const metrics = await scrape(service.metricsPort);
  const { arrivals, copies, account } = await stage.conclude(wave);

  // Due times are of the wall clock, arrivals of the one that processes share.
  const wallMs = Date.now() - sharedNowMs();
  const lateness = (indexes: readonly number[], dueAt: (index: number) => number) =>
    distribution(indexes.map((index) => (arrivals.receivedAt[index] ?? NaN) + wallMs - dueAt(index)));
  const laid = lateness(select(wave, { from: warmUp, to: warmUp + due }), (index) => dueAtOf(index - warmUp));
  const retried = lateness(select(wave, { from: warmUp + waiting }), (index) => copies.dueAt[index] ?? NaN);
  const retries = 'tailrace_delivery_retry_lateness_seconds';
  const within = metrics.sum(`${retries}_bucket`, { le: '0.25' }) / metrics.sum(`${retries}_count`);
  const idleShare = (name: string): number => (idle[name] ?? NaN) / ((idleMs - 1_000) / 1_000);
  return {
    title: `Punctual: ${waiting} records waiting, in the longer of ${tiers.length} tiers (${tiers.join(', ')})`,
    tables: [
      table(
        ['from due to arrival, ms', 'p50', 'p99', 'max'],
        [
          ['laid into the tiers', ...[laid.p50, laid.p99, laid.max].map(tenths)],
          ['retried by the service', ...[retried.p50, retried.p99, retried.max].map(tenths)],
        ],
      ),
      table(
        ['CPU of one core while nothing is due', ''],
        [
          [`delivery service, ${readAhead} read ahead`, percent(idleShare('service'))],
          ['bare loop on an idle topic', percent(idleShare('bare'))],
        ],
      ),
      `By the service's own count, ${percent(within)} of retries began within 250 ms of their time.`,
    ],
    goals: [
      describeGoal('p99 from due to arrival, laid into the tiers, ms', laid.p99, '≤', 250, tenths),
      describeGoal('p99 from due to arrival, retried by the service, ms', retried.p99, '≤', 250, tenths),
      describeGoal('CPU of one core while nothing is due', idleShare('service'), '≤', 0.02, percent),
    ],
    accounts: [account],
    figures: { laid, retried, within, readAhead, idle },
  };
}
