/**
 * Measures how punctual retries are while a hundred thousand records wait, and the cost of waiting records. The bench
 * writes these to the long retry topics, as the service would: a fifth is due during the run, the rest in an hour.
 * The service writes other retries to the short retry topics: a receiver refuses one delivery in four, with
 * `Retry-After`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration } from '@tailrace/events';
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

/** The delays that the receiver asks for. */
const shortTiers = ['2s', '5s', '10s', '20s'] as const;
/** Records due in the run and later ones have separate retry topics, because a retry topic is read in order. */
const longTiers = { soon: ['2m', '5m'], later: ['1h', '2h'] } as const;
const tiers = [...shortTiers, ...longTiers.soon, ...longTiers.later];
const dueShare = 0.2;
const duePerSecond = 500;
const livePerSecond = 200;
const idleMs = 10_000;
const hourMs = 3_600_000;
/** Records that the bench writes to retry topics in one part. */
const partSize = 4_000;
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
  await stage.feedUnpaced(wave, { to: warmUp });
  await stage.arrived(select(wave, { to: warmUp }), settlesWithinMs);

  say(`punctual: writing ${waiting} records to retry topics`);
  const writeMs = 5_000 + waiting / 5;
  const firstDueAt = Date.now() + writeMs + idleMs;
  const tierOf = (place: number): string => {
    const those = place < due ? longTiers.soon : longTiers.later;
    return stage.topics.retryTier(parseDuration(those[place % 2] ?? '') ?? NaN);
  };
  const dueAtOf = (place: number): number =>
    place < due ? Math.round(firstDueAt + (place * 1_000) / duePerSecond) : firstDueAt + hourMs + place;
  for (let place = 0; place < waiting; place += partSize) {
    const part = Array.from({ length: Math.min(partSize, waiting - place) }, (_, offset) => place + offset);
    await Promise.all(
      part.map((place) => {
        const changes = { attempt: 1, step: 1, firstAttemptAt: Date.now(), dueAt: dueAtOf(place) };
        return stage.write(tierOf(place), deliveryOf(wave.first + warmUp + place, 'd0', changes));
      }),
    );
  }
  const earlyMs = firstDueAt - idleMs - Date.now();
  if (earlyMs < 0) throw new Error('the records were not written before the first was due');
  await sleep(earlyMs);

  say(`punctual: nothing is due for ${idleMs / 1_000} s`);
  const meter = startCpuMeter({ service: service.pid, bare: bare.pid });
  await sleep(idleMs - 1_000);
  const idle = meter.read();
  const readAhead = (await scrape(service.metricsPort)).sum('tailrace_deliveries_waiting');
  await sleep(firstDueAt - Date.now());

  say(`punctual: ${duePerSecond}/s are due, ${livePerSecond}/s come in, for ${dueSeconds} s`);
  await stage.feedAtRate(wave, livePerSecond, { from: warmUp + waiting });
  const arriving = [
    ...select(wave, { from: warmUp, to: warmUp + due }),
    ...select(wave, { from: warmUp + waiting }),
  ];
  await stage.arrived(arriving, settlesWithinMs);
  const metrics = await scrape(service.metricsPort);
  const { arrivals, copies, account } = await stage.conclude(wave);

  // Due times use the wall clock; arrivals use the clock that the processes share.
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
          ['written by the bench', ...[laid.p50, laid.p99, laid.max].map(tenths)],
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
      `As counted by the service, ${percent(within)} of retries started within 250 ms of their due time.`,
    ],
    goals: [
      describeGoal('p99 from due to arrival, written by the bench, ms', laid.p99, '≤', 250, tenths),
      describeGoal('p99 from due to arrival, retried by the service, ms', retried.p99, '≤', 250, tenths),
      describeGoal('CPU of one core while nothing is due', idleShare('service'), '≤', 0.02, percent),
    ],
    accounts: [account],
    figures: { laid, retried, within, readAhead, idle },
  };
}
