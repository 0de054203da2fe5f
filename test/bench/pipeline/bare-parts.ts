/**
 * The cost of the parts of the pipeline: each is measured in its own process, with the same broker and receiver, on the same
 * machine in the same run. The sum is the lower bound that the libraries set; the rest is the cost of Tailrace's code.
 */
import { startChild } from '../processes/children.ts';
import { withKafka } from '../processes/kafka.ts';
import { createLoad } from '../load/load.ts';
import { spread, type Spread } from '../figures/statistics.ts';

/** A part that runs by itself. */
export type LonePart = 'produce-20' | 'produce-500' | 'consume' | 'post';
export type PartName = LonePart | 'serve';

/** CPU time of one record, call or request in the part's own process, in microseconds, over several runs. */
export type PartCosts = Readonly<Record<PartName, Spread>>;

export const partTitles: Readonly<Record<PartName, string>> = {
  serve: 'fastify and kafkajs, a call',
  'produce-20': 'kafkajs produce in requests of 20, a record',
  'produce-500': 'kafkajs produce in requests of 500, a record',
  consume: 'kafkajs consume, a record',
  post: 'undici POST with HMAC, a request',
};

/**
 * The bare parts of each service. The router's records are sent in the small requests of a pipeline that keeps up, the
 * records of attempts, which may linger, in large ones.
 */
export const partsOfServices = {
  ingest: ['serve'],
  router: ['consume', 'produce-20'],
  delivery: ['consume', 'post', 'produce-500'],
} as const satisfies Readonly<Record<string, readonly PartName[]>>;

export interface PartSettings {
  readonly brokers: readonly string[];
  /** Made by {@link measureParts}. */
  readonly topic: string;
  readonly partitions: number;
  /** URL of the receiver. */
  readonly url: string;
  readonly inFlight: number;
  /** Records, calls or requests before the first measured run, and in each. */
  readonly warmUp: number;
  readonly count: number;
  readonly runs: number;
}

/** CPU microseconds of one record in one measured run. */
export interface FromBarePart {
  readonly kind: 'run';
  readonly microseconds: number;
}

export type FromBareServer =
  | { readonly kind: 'listening'; readonly port: number }
  /** CPU time of the process so far. */
  | { readonly kind: 'cpu'; readonly microseconds: number };
export type ToBareServer = 'cpu';

const runWithinMs = 120_000;
const startsWithinMs = 30_000;

export async function measureParts(
  settings: PartSettings,
  onPart: (name: PartName) => void,
): Promise<PartCosts> {
  const { brokers, topic, partitions } = settings;
  await withKafka(brokers, (kafka) => kafka.ensureTopics([{ name: topic, partitions, config: {} }]));
  const lone = (name: LonePart): Promise<Spread> => {
    onPart(name);
    return measureLone(name, settings);
  };
  // The third consumes the records that the first two produce.
  const produced = { 'produce-20': await lone('produce-20'), 'produce-500': await lone('produce-500') };
  const others = { consume: await lone('consume'), post: await lone('post') };
  onPart('serve');
  return { ...produced, ...others, serve: await measureServer(settings) };
}

async function measureLone(name: LonePart, settings: PartSettings): Promise<Spread> {
  await using child = startChild<never, FromBarePart>('pipeline/bare-part-process.ts', [
    name,
    JSON.stringify(settings),
  ]);
  const costs: number[] = [];
  for (let run = 0; run < settings.runs; run += 1) {
    costs.push((await child.receive('run', runWithinMs)).microseconds);
  }
  return spread(costs);
}

async function measureServer(settings: PartSettings): Promise<Spread> {
  await using child = startChild<ToBareServer, FromBareServer>('processes/bare-server-process.ts', [
    JSON.stringify(settings),
  ]);
  const { port } = await child.receive('listening', startsWithinMs);
  const load = createLoad({ port, path: '/v1/track', headers: { 'content-type': 'application/json' } });
  const { inFlight, warmUp, count } = settings;
  const cpu = async (): Promise<number> => {
    child.send('cpu');
    return (await child.receive('cpu', startsWithinMs)).microseconds;
  };
  await load.closedLoop({ count: warmUp, inFlight });
  const costs: number[] = [];
  for (let run = 0; run < settings.runs; run += 1) {
    const before = await cpu();
    await load.closedLoop({ count, inFlight });
    costs.push(((await cpu()) - before) / count);
  }
  return spread(costs);
}
