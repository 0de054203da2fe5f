/**
 * Measures what a rolling upgrade costs: six replicas are replaced one by one, each by a new one that is ready before the old one
 * is stopped, beside the same load while nothing changes.
 */
import { say } from '../processes/bench.ts';
import { tenths, table, whole } from '../figures/table.ts';
import { describeGoal, type Report } from './report.ts';
import { openStage, type Context } from './stage.ts';
import { inTurn, latencies, select } from './wave.ts';

const replicaCount = 6;
const places = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const warmUpSeconds = 8;
/** Long enough for six starts on two cores. */
const replacingSeconds = 60;
const settlesWithinMs = 15_000;
const goalMs = 500;

export async function measureReplace(context: Context): Promise<Report> {
  const { options, receiver } = context;
  const urls = await receiver.listen(places.map(() => ({ kind: 'answers' })));
  await using stage = await openStage(context, { name: 'replace', urls });
  say(`replace: starting ${replicaCount} replicas`);
  const replicas = await Promise.all(
    Array.from({ length: replicaCount }, (_, nth) => stage.startReplica(`old-${nth}`)),
  );
  const [steadyFrom, replacedFrom] = [warmUpSeconds, warmUpSeconds + options.seconds].map(
    (second) => second * options.rate,
  ) as [number, number];
  const total = replacedFrom + replacingSeconds * options.rate;
  const wave = await stage.wave(inTurn(total, places));
  await stage.feedAtRate(wave, options.rate, { to: replacedFrom });
  const replace = async (): Promise<void> => {
    for (const [nth, old] of replicas.entries()) {
      await stage.startReplica(`new-${nth}`);
      await old.stop();
      say(`replace: ${nth + 1} of ${replicaCount}`);
    }
  };
  await Promise.all([replace(), stage.feedAtRate(wave, options.rate, { from: replacedFrom })]);
  await stage.arrived(select(wave, {}), settlesWithinMs);
  const { arrivals, account } = await stage.conclude(wave);
  const { receivedAt } = arrivals;
  const [steady, replacing] = [
    latencies(wave, receivedAt, { from: steadyFrom, to: replacedFrom }),
    latencies(wave, receivedAt, { from: replacedFrom }),
  ];
  const row = (name: string, { p50, p99, max }: typeof steady) => [
    name,
    tenths(p50),
    tenths(p99),
    tenths(max),
  ];
  return {
    title: `Replace: ${replicaCount} replicas, ${options.rate} deliveries a second`,
    tables: [
      table(
        ['', 'p50 ms', 'p99 ms', 'max ms'],
        [
          row(`${options.seconds} s without a change`, steady),
          row(`${replacingSeconds} s, all replaced`, replacing),
        ],
      ),
    ],
    goals: [
      describeGoal('p99 while replicas are replaced, ms', replacing.p99, '≤', goalMs, whole),
      describeGoal('repeated deliveries', account.repeated, '≤', 0, whole),
    ],
    accounts: [account],
    figures: { steady, replacing },
  };
}
