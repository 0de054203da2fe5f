/**
 * The bare counterpart of the pipeline at a steady rate: a generator, a hop and a sink, three kafkajs clients without any other
 * work, on the same broker in the same run. It has no HTTP and no webhooks.
 */
import { startChild, type Child } from '../processes/children.ts';
import { withKafka } from '../processes/kafka.ts';
import { mapValues, startCpuMeter, type ByProcess } from '../figures/measure.ts';
import type { Rate } from '../load/at-rate.ts';

export const chainRoles = ['generator', 'hop', 'sink'] as const;
export type ChainRole = (typeof chainRoles)[number];

export interface ChainSettings {
  readonly brokers: readonly string[];
  /** Made by {@link measureChain}. */
  readonly topics: { readonly first: string; readonly second: string };
}

export type FromChain = { readonly kind: 'ready' } | { readonly kind: 'received' };
export type ToGenerator = Rate;

const warmUpSeconds = 5;
const startsWithinMs = 60_000;
const arrivesWithinMs = 60_000;

/** Returns the mean share of one core that each client and the broker used. */
export async function measureChain(
  brokers: readonly string[],
  partitions: number,
  brokerPid: number | undefined,
  rate: Rate,
): Promise<ByProcess> {
  const settings: ChainSettings = { brokers, topics: { first: 'bare-chain-1', second: 'bare-chain-2' } };
  await withKafka(brokers, (kafka) =>
    kafka.ensureTopics(Object.values(settings.topics).map((name) => ({ name, partitions, config: {} }))),
  );
  await using started = new AsyncDisposableStack();
  const start = <Out>(role: ChainRole): Child<Out, FromChain> =>
    started.use(
      startChild<Out, FromChain>('pipeline/bare-chain-process.ts', [role, JSON.stringify(settings)]),
    );
  const generator = start<ToGenerator>('generator');
  const hop = start<never>('hop');
  const sink = start<number>('sink');
  await Promise.all([generator, hop, sink].map((child) => child.receive('ready', startsWithinMs)));
  let total = 0;
  const run = async (count: number): Promise<void> => {
    total += count;
    generator.send({ ...rate, count });
    sink.send(total);
    await sink.receive('received', (count / rate.ratePerSecond) * 1_000 + arrivesWithinMs);
  };
  await run(Math.ceil(rate.ratePerSecond * warmUpSeconds));
  const began = performance.now();
  const meter = startCpuMeter({
    generator: generator.pid,
    hop: hop.pid,
    sink: sink.pid,
    ...(brokerPid !== undefined && { broker: brokerPid }),
  });
  await run(rate.count);
  const cpuSeconds = meter.read();
  const seconds = (performance.now() - began) / 1_000;
  return mapValues(cpuSeconds, (cpu) => cpu / seconds);
}
