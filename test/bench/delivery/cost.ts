/**
 * What one delivery costs in CPU time: the service beside the bare loop, with the same records and the same
 * receiver, turn about, so that a noisy minute strikes both.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from '../bench.ts';
import { mapValues, startCpuMeter, type ByProcess } from '../measure.ts';
import { spread } from '../statistics.ts';
import { hundredths, table, whole } from '../table.ts';
import { startBareLoop } from './bare-loop.ts';
import { describeGoal, type Report } from './report.ts';
import { openStage, settleMs, type Context } from './stage.ts';
import { inTurn, throughput } from './wave.ts';

interface Run {
  readonly cpuMicroseconds: ByProcess;
  readonly deliveredPerSecond: number;
}

const arrivesWithinMs = 120_000;

export async function measureCost(context: Context): Promise<Report> {
  const { bench, options, receiver } = context;
  const urls = await receiver.listen([{ kind: 'answers' }]);
  await using stage = await openStage(context, { name: 'cost', urls });
  const bareTopic = 'cost.bare';
  await using bare = await startBareLoopOn(bareTopic);
  const service = await stage.startService();
  const pids = {
    delivery: service.pid,
    bare: bare.pid,
    receiver: receiver.pid,
    ...(bench.brokerPid !== undefined && { broker: bench.brokerPid }),
  };

  async function startBareLoopOn(topic: string) {
    await stage.createTopic(topic);
    return startBareLoop(context, stage, { topic, urls });
  }
  const run = async (topic: string, count: number): Promise<Run> => {
    const wave = await stage.wave(inTurn(count, [0]));
    const meter = startCpuMeter(pids);
    await stage.feedAtOnce(wave, { topic });
    await receiver.complete(arrivesWithinMs);
    await sleep(settleMs);
    const cpuMicroseconds = mapValues(meter.read(), (seconds) => (seconds * 1e6) / count);
    const { receivedAt } = await receiver.handOver();
    return { cpuMicroseconds, deliveredPerSecond: throughput(wave, receivedAt) };
  };

  const ours: Run[] = [];
  const theirs: Run[] = [];
  say(`cost: warming up, ${options.events} deliveries each`);
  await run(stage.topics.deliveries, options.events);
  await run(bareTopic, options.events);
  for (let round = 1; round <= options.runs; round += 1) {
    say(`cost: round ${round} of ${options.runs}, ${options.events} deliveries each`);
    ours.push(await run(stage.topics.deliveries, options.events));
    theirs.push(await run(bareTopic, options.events));
  }
  const last = await stage.wave(inTurn(options.events, [0]));
  await stage.feedAtOnce(last);
  await stage.settled(last, arrivesWithinMs);
  const { account } = await stage.conclude(last);

  const cpuOf = (runs: readonly Run[], name: string) =>
    spread(runs.map(({ cpuMicroseconds }) => cpuMicroseconds[name] ?? NaN));
  const row = (title: string, figures: { median: number; min: number; max: number }) => [
    title,
    ...[figures.median, figures.min, figures.max].map(whole),
  ];
  const [mine, bares] = [cpuOf(ours, 'delivery'), cpuOf(theirs, 'bare')];
  const ratio = mine.median / bares.median;
  return {
    title: `Cost of a delivery, ${options.events} at once to one destination`,
    tables: [
      table(
        ['CPU a delivery, µs', `median of ${options.runs}`, 'min', 'max'],
        [
          row('delivery service', mine),
          row('bare loop', bares),
          row('broker, with the service', cpuOf(ours, 'broker')),
          row('broker, with the bare loop', cpuOf(theirs, 'broker')),
        ],
      ),
      table(
        ['delivered a second', `median of ${options.runs}`, 'min', 'max'],
        [
          row('delivery service', spread(ours.map(({ deliveredPerSecond }) => deliveredPerSecond))),
          row('bare loop', spread(theirs.map(({ deliveredPerSecond }) => deliveredPerSecond))),
        ],
      ),
    ],
    goals: [describeGoal('CPU a delivery, beside the bare loop', ratio, '≤', 1.4, hundredths)],
    accounts: [account],
    figures: { ours, bare: theirs },
  };
}
