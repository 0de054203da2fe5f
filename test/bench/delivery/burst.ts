/** Measures a burst to one healthy receiver. No delivery may be deferred, however busy the machine is. */
import { say } from '../processes/bench.ts';
import type { Distribution } from '../figures/statistics.ts';
import { table, tenths, whole } from '../figures/table.ts';
import type { Account } from './account.ts';
import { describeGoal, type Report } from './report.ts';
import { openStage, type Context } from './stage.ts';
import { inTurn, latencies, select, throughput } from './wave.ts';

interface Run {
  readonly latencyMs: Distribution;
  readonly perSecond: number;
  readonly deferred: number;
  readonly missing: number;
  readonly account: Account;
}

const leastPerSecond = 400;

export async function measureBurst(context: Context): Promise<Report> {
  const { runs: rounds, burst } = context.options;
  const runs: Run[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    say(`burst: round ${round} of ${rounds}, ${burst} deliveries`);
    runs.push(await run(context, `burst-${round}`));
  }
  const sum = (figure: (run: Run) => number): number => runs.reduce((all, run) => all + figure(run), 0);
  return {
    title: `Burst: ${burst} unpaced deliveries to one healthy receiver`,
    tables: [
      table(
        ['', 'p50 ms', 'p99 ms', 'max ms', '/s', 'deferred', 'missing'],
        runs.map(({ latencyMs: { p50, p99, max }, perSecond, deferred, missing }, place) => [
          `round ${place + 1}`,
          ...[p50, p99, max].map(tenths),
          ...[perSecond, deferred, missing].map(whole),
        ]),
      ),
    ],
    goals: [
      describeGoal(
        'deliveries deferred',
        sum((run) => run.deferred),
        '≤',
        0,
        whole,
      ),
    ],
    accounts: runs.map(({ account }) => account),
    figures: runs,
  };
}

async function run(context: Context, name: string): Promise<Run> {
  const { options, receiver } = context;
  const urls = await receiver.listen([{ kind: 'answers' }]);
  await using stage = await openStage(context, { name, urls });
  await stage.startService();
  const wave = await stage.wave(inTurn(options.burst, [0]));
  await stage.feedUnpaced(wave);
  const all = select(wave, {});
  await stage.arrived(all, (options.burst / leastPerSecond) * 1_000 + 30_000);
  const { arrivals, copies, account } = await stage.conclude(wave);
  const { receivedAt } = arrivals;
  return {
    latencyMs: latencies(wave, receivedAt),
    perSecond: throughput(wave, receivedAt),
    deferred: all.filter((index) => (copies.deferrals[index] ?? 0) > 0).length,
    missing: all.filter((index) => Number.isNaN(receivedAt[index] ?? NaN)).length,
    account,
  };
}
