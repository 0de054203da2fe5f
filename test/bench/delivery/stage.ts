/**
 * A stage: topics with their own prefix, destinations, and one process of the delivery service with default settings
 * except for the retry schedule. Each scenario has its own stage, and so has each run that must not be affected by the
 * retries of an earlier one.
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyConfiguration } from '@tailrace/config';
import type { Kafka } from '@tailrace/kafka';
import { parseDuration } from '@tailrace/events';
import { encodeDelivery, type Delivery } from '@tailrace/records';
import { topicNames, topicSpecs, type TopicNames } from '@tailrace/topology';
import { connectAdmin } from '../../support/kafka/kafka-admin.ts';
import { atRate } from '../load/at-rate.ts';
import type { Bench } from '../processes/bench.ts';
import { sharedNowMs } from '../processes/clock.ts';
import { openKafka, untilTaken } from '../processes/kafka.ts';
import type { Arrivals, Receiver } from '../receivers/receiver.ts';
import { spawnService, type ServiceProcess } from '../processes/service-process.ts';
import { profileOf, retrySchedule } from '../pipeline/services.ts';
import { accountFor, readCopies, type Account, type Copies } from './account.ts';
import { deliveryOf } from './bodies.ts';
import { scrape } from './metrics.ts';
import type { Options } from './options.ts';
import { createWave, type Wave } from './wave.ts';

/** Shared by all scenarios. */
export interface Context {
  readonly bench: Bench;
  readonly options: Options;
  readonly receiver: Receiver;
  readonly sharedSecret: string;
  /** The number of the next delivery; no number is used twice. */
  readonly numbers: { next: number };
}

export interface StageOptions {
  /** Letters and dashes; names the topics, the log and the profile of the stage. */
  readonly name: string;
  /** The URL of each destination. */
  readonly urls: readonly string[];
  /** Rate limit of the destination at a place, in requests a second; undefined for none. */
  readonly rateLimit?: (place: number) => number | undefined;
  /** In the format of TAILRACE_RETRY_SCHEDULE. */
  readonly schedule?: string;
}

export interface Stage extends AsyncDisposable {
  readonly topics: TopicNames;
  readonly destinationIds: readonly string[];
  /** Makes a wave for these destinations, by place; from then on the receiver expects this wave alone. */
  wave(destinations: readonly number[]): Promise<Wave>;
  /** Writes the deliveries of a range of the wave at a steady rate. */
  feedAtRate(wave: Wave, ratePerSecond: number, range?: Range): Promise<void>;
  /** Writes the deliveries of a range as fast as Kafka accepts them. */
  feedUnpaced(wave: Wave, options?: Range & { readonly topic?: string }): Promise<void>;
  /** Creates another topic with as many partitions as those of the service. */
  createTopic(name: string): Promise<void>;
  /** Writes one delivery to a topic unchanged. */
  write(topic: string, delivery: Delivery): Promise<void>;
  /** Starts the service; resolves when it is ready, or, with `untilReady: false`, when its process runs. */
  startService(options?: { readonly untilReady?: boolean }): Promise<ServiceProcess>;
  /** Starts one more process of the service, and resolves when it is ready. Its name is that of its log. */
  startReplica(replica: string): Promise<ServiceProcess>;
  /** The process of the service; throws if it has not been started. */
  readonly service: ServiceProcess;
  /** Resolves when these deliveries of the latest wave, by index, have arrived, or after `timeoutMs`. */
  arrived(indexes: readonly number[], timeoutMs: number): Promise<void>;
  /** Resolves with true when every delivery of the wave has arrived or is dead, or with false after `timeoutMs`. */
  settled(wave: Wave, timeoutMs: number): Promise<boolean>;
  /** Stops the service and accounts for the wave. */
  conclude(wave: Wave): Promise<Conclusion>;
}

export interface Range {
  readonly from?: number;
  readonly to?: number;
}

export interface Conclusion {
  readonly arrivals: Arrivals;
  readonly copies: Copies;
  readonly account: Account;
}

/** Bounds the records that wait for an acknowledgement of Kafka, because they take CPU time from the service. */
const maxUnacknowledged = 4_000;
const settlePollMs = 1_000;
/** Commits and records of attempts follow shortly after the last delivery. */
export const settleMs = 1_000;

export async function openStage(
  { bench, options, receiver, sharedSecret, numbers }: Context,
  { name, urls, rateLimit = () => undefined, schedule = retrySchedule }: StageOptions,
): Promise<Stage> {
  const { brokers, folder } = bench;
  const prefix = `${name}.`;
  const topics = topicNames(prefix);
  const scheduleMs = schedule.split(',').map((delay) => parseDuration(delay) ?? NaN);
  const destinationIds = urls.map((_, place) => `d${place}`);

  await using opening = new AsyncDisposableStack();
  const kafka = openKafka(brokers);
  opening.defer(() => kafka.close());
  await prepare(kafka, topics, { scheduleMs, partitions: options.partitions, urls, rateLimit, sharedSecret });
  const publisher = kafka.publisher();
  const write = (topic: string, delivery: Delivery): Promise<void> =>
    publisher.publish(encodeDelivery(topic, delivery));
  let service: ServiceProcess | undefined;
  const processes: ServiceProcess[] = [];
  const stopAll = async (): Promise<void> => {
    await Promise.all(processes.map((process) => process.stop()));
  };
  opening.defer(stopAll);
  const running = opening.move();

  const spawn = async (replica: string): Promise<ServiceProcess> => {
    const spawned = await spawnService({
      name: 'delivery',
      logFile: path.join(folder, `${replica}.log`),
      profileFile: options.profileFolder && profileOf(options.profileFolder, replica),
      env: {
        KAFKA_BROKERS: brokers.join(','),
        TAILRACE_TOPIC_PREFIX: prefix,
        TAILRACE_PARTITIONS: String(options.partitions),
        TAILRACE_RETRY_SCHEDULE: schedule,
        TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
      },
    });
    processes.push(spawned);
    return spawned;
  };

  const runningService = (): ServiceProcess => {
    if (!service) throw new Error('the service has not been started');
    return service;
  };
  const unlessDead = <T>(work: Promise<T>): Promise<T> =>
    Promise.race([work, bench.brokerDied, ...processes.map(({ died }) => died)]);
  /** Whether `holds` resolves with true within `timeoutMs`. */
  const becomes = async (timeoutMs: number, holds: () => Promise<boolean>): Promise<boolean> => {
    const deadline = performance.now() + timeoutMs;
    while (performance.now() < deadline) {
      if (await unlessDead(holds())) return true;
      await sleep(settlePollMs);
    }
    return false;
  };
  const send = (wave: Wave, index: number, topic: string): Promise<void> => {
    const id = destinationIds[wave.destinations[index] ?? NaN] ?? 'no-destination';
    wave.sentAt[index] = sharedNowMs();
    return write(topic, deliveryOf(wave.first + index, id));
  };

  return {
    topics,
    destinationIds,
    get service() {
      return runningService();
    },
    write,

    async createTopic(name) {
      await kafka.ensureTopics([{ name, partitions: options.partitions, config: {} }]);
    },

    async wave(destinations) {
      const wave = createWave(numbers.next, destinations);
      numbers.next += wave.count;
      await receiver.expect(wave);
      return wave;
    },

    feedAtRate: (wave, ratePerSecond, { from = 0, to = wave.count } = {}) =>
      unlessDead(
        atRate({ count: to - from, ratePerSecond }, (place) => send(wave, from + place, topics.deliveries)),
      ),

    feedUnpaced: (wave, { from = 0, to = wave.count, topic = topics.deliveries } = {}) =>
      unlessDead(
        (async () => {
          for (let index = from; index < to;) {
            const request: Promise<void>[] = [];
            while (index < to && request.length < maxUnacknowledged) request.push(send(wave, index++, topic));
            await Promise.all(request);
          }
        })(),
      ),

    async startService({ untilReady = true } = {}) {
      service ??= await spawn(name);
      if (untilReady) await service.ready;
      return service;
    },

    async startReplica(replica) {
      const started = await spawn(`${name}-${replica}`);
      await unlessDead(started.ready);
      return started;
    },

    async arrived(indexes, timeoutMs) {
      await becomes(timeoutMs, async () => {
        const { receivedAt } = await receiver.handOver();
        return indexes.every((index) => !Number.isNaN(receivedAt[index] ?? NaN));
      });
    },

    settled: (wave, timeoutMs) =>
      becomes(timeoutMs, async () => {
        const { receivedAt } = await receiver.handOver();
        const arrived = receivedAt.filter((at) => !Number.isNaN(at)).length;
        const metrics = await scrape(runningService().metricsPort);
        return arrived + metrics.sum('tailrace_dead_letters_total') >= wave.count;
      }),

    async conclude(wave) {
      await unlessDead(sleep(settleMs));
      await stopAll();
      const arrivals = await receiver.handOver();
      await using admin = await connectAdmin(brokers);
      const groupId = `${prefix}delivery`;
      const copies = await readCopies({ kafka, admin, topics, groupId, scheduleMs }, wave, arrivals);
      return { arrivals, copies, account: accountFor(wave, arrivals, copies, sharedSecret) };
    },

    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function prepare(
  kafka: Kafka,
  topics: TopicNames,
  stage: {
    readonly scheduleMs: readonly number[];
    readonly partitions: number;
    readonly urls: readonly string[];
    readonly rateLimit: (place: number) => number | undefined;
    readonly sharedSecret: string;
  },
): Promise<void> {
  const { scheduleMs: retryScheduleMs, partitions, urls, rateLimit, sharedSecret } = stage;
  const source = { id: 'bench', writeKeys: ['wk_bench'], enabled: true };
  const destinations = urls.map((url, place) => {
    const limit = rateLimit(place);
    return {
      id: `d${place}`,
      type: 'Webhooks' as const,
      enabled: true,
      sources: [source.id],
      ...(limit !== undefined && { rateLimit: limit }),
      settings: { sharedSecret, webhooks: [{ url }] },
    };
  });
  await kafka.ensureTopics(topicSpecs(topics, { partitions, retryScheduleMs }));
  await untilTaken(() => applyConfiguration(kafka, topics.config, { sources: [source], destinations }));
}
