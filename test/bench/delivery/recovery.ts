/**
 * Measures how soon pending deliveries arrive after a receiver recovers. Its circuit breaker is open at that time, and
 * the pending deliveries are in retry topics, with due times from the time when it was down.
 */
import { say } from '../processes/bench.ts';
import { distribution } from '../figures/statistics.ts';
import { table, tenths, whole } from '../figures/table.ts';
import { describeGoal, type Report } from './report.ts';
import { openStage, type Context } from './stage.ts';
import { inTurn, select } from './wave.ts';

const perSecond = 20;
/** How long new deliveries are written after the recovery. */
const freshSeconds = 10;
/** Longer than a delivery that failed for a minute waits by its retry schedule alone. */
const waitsAtMostMs = 400_000;
/** The longest pause between probes is a minute; the pending deliveries then arrive at a bounded rate. */
const goalSeconds = 90;

export async function measureRecovery(context: Context): Promise<Report> {
  const { options, receiver } = context;
  const urls = await receiver.listen([{ kind: 'is down' }]);
  await using stage = await openStage(context, { name: 'recovery', urls });
  await stage.startService();
  const waiting = perSecond * options.downSeconds;
  const wave = await stage.wave(inTurn(waiting + perSecond * freshSeconds, [0]));
  say(`recovery: the receiver is down for ${options.downSeconds} s`);
  await stage.feedAtRate(wave, perSecond, { to: waiting });
  const recoveredAt = await receiver.recover();
  say(
    `recovery: the receiver has recovered; waiting for ${waiting} deliveries, ${waitsAtMostMs / 1_000} s at most`,
  );
  await stage.feedAtRate(wave, perSecond, { from: waiting });
  // In proportion to the down time, so that a short run ends soon.
  const patienceMs = Math.min(waitsAtMostMs, options.downSeconds * 10_000);
  await stage.arrived(select(wave, {}), patienceMs);
  const { arrivals, account } = await stage.conclude(wave);

  const secondsAfter = (from: number, to: number): number[] =>
    select(wave, { from, to }).map((index) => ((arrivals.receivedAt[index] ?? NaN) - recoveredAt) / 1_000);
  const row = (title: string, after: readonly number[]) => {
    const { p50, p99, max } = distribution(after);
    const missing = after.filter((seconds) => Number.isNaN(seconds)).length;
    const first = after.reduce((least, at) => (at < least ? at : least), Infinity);
    return [title, ...[first, p50, p99, max].map(tenths), ...[after.length, missing].map(whole)];
  };
  const [waited, fresh] = [secondsAfter(0, waiting), secondsAfter(waiting, wave.count)];
  const latest = waited.reduce((most, at) => Math.max(most, Number.isNaN(at) ? Infinity : at), 0);
  return {
    title: `Recovery: one receiver, down for ${options.downSeconds} s, ${perSecond} deliveries a second`,
    tables: [
      table(
        ['from the recovery to the arrival, s', 'first', 'p50', 'p99', 'last', 'sent', 'missing'],
        [row('sent while it was down', waited), row(`sent in the ${freshSeconds} s after`, fresh)],
      ),
    ],
    goals: [describeGoal('last pending delivery, s after the recovery', latest, '≤', goalSeconds, tenths)],
    accounts: [account],
    figures: { recoveredAt, waited, fresh },
  };
}
