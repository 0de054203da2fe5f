/**
 * Measures the CPU time of one delivery: of the service, of the bare loop, and of a bare loop that records each attempt.
 * They take turns with the same receiver and the same number of deliveries, so that a noisy minute affects all three.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from '../processes/bench.ts';
import { mapValues, startCpuMeter, type ByProcess } from '../figures/measure.ts';
import { spread } from '../figures/statistics.ts';
import { hundredths, table, whole } from '../figures/table.ts';
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
  const [bareTopic, keepingTopic, attemptsTopic] = ['cost.bare', 'cost.keeping', 'cost.keeping.attempts'];
  for (const topic of [bareTopic, keepingTopic, attemptsTopic]) await stage.createTopic(topic);
  await using bare = await startBareLoop(context, stage, { topic: bareTopic, urls });
  await using keeping = await startBareLoop(context, stage, { topic: keepingTopic, attemptsTopic, urls });
  const service = await stage.startService();
  const pids = {
    delivery: service.pid,
    bare: bare.pid,
    keeping: keeping.pid,
    receiver: receiver.pid,
    ...(bench.brokerPid !== undefined && { broker: bench.brokerPid }),
  };

  const run = async (topic: string, count: number): Promise<Run> => {
    const wave = await stage.wave(inTurn(count, [0]));
    const meter = startCpuMeter(pids);
    await stage.feedUnpaced(wave, { topic });
    await receiver.complete(arrivesWithinMs);
    await sleep(settleMs);
    const cpuMicroseconds = mapValues(meter.read(), (seconds) => (seconds * 1e6) / count);
    const { receivedAt } = await receiver.handOver();
    return { cpuMicroseconds, deliveredPerSecond: throughput(wave, receivedAt) };
  };

  const ours: Run[] = [];
  const bares: Run[] = [];
  const keepings: Run[] = [];
  say(`cost: warming up, ${options.events} deliveries each`);
  for (const topic of [stage.topics.deliveries, bareTopic, keepingTopic]) await run(topic, options.events);
  for (let round = 1; round <= options.runs; round += 1) {
    say(`cost: round ${round} of ${options.runs}, ${options.events} deliveries each`);
    ours.push(await run(stage.topics.deliveries, options.events));
    bares.push(await run(bareTopic, options.events));
    keepings.push(await run(keepingTopic, options.events));
  }
  const last = await stage.wave(inTurn(options.events, [0]));
  await stage.feedUnpaced(last);
  await stage.settled(last, arrivesWithinMs);
  const { account } = await stage.conclude(last);

  const cpuOf = (runs: readonly Run[], name: string) =>
    spread(runs.map(({ cpuMicroseconds }) => cpuMicroseconds[name] ?? NaN));
  const row = (title: string, figures: { median: number; min: number; max: number }) => [
    title,
    ...[figures.median, figures.min, figures.max].map(whole),
  ];
  const rateOf = (runs: readonly Run[]) => spread(runs.map(({ deliveredPerSecond }) => deliveredPerSecond));
  const cpu = {
    service: cpuOf(ours, 'delivery'),
    bare: cpuOf(bares, 'bare'),
    keeping: cpuOf(keepings, 'keeping'),
  };
  return {
    title: `Cost of a delivery, ${options.events} unpaced to one destination`,
    tables: [
      table(
        ['CPU a delivery, µs', `median of ${options.runs}`, 'min', 'max'],
        [
          row('delivery service', cpu.service),
          row('bare loop', cpu.bare),
          row('bare loop that keeps attempts', cpu.keeping),
          row('broker, with the service', cpuOf(ours, 'broker')),
          row('broker, with the bare loop', cpuOf(bares, 'broker')),
          row('broker, with the one that keeps attempts', cpuOf(keepings, 'broker')),
        ],
      ),
      table(
        ['delivered a second', `median of ${options.runs}`, 'min', 'max'],
        [
          row('delivery service', rateOf(ours)),
          row('bare loop', rateOf(bares)),
          row('bare loop that keeps attempts', rateOf(keepings)),
        ],
      ),
      `CPU a delivery, beside the bare loop that keeps attempts: ${hundredths(cpu.service.median / cpu.keeping.median)}`,
    ],
    goals: [
      describeGoal(
        'CPU a delivery, beside the bare loop',
        cpu.service.median / cpu.bare.median,
        '≤',
        1.4,
        hundredths,
      ),
    ],
    accounts: [account],
    figures: { ours, bare: bares, keeping: keepings },
  };
}
