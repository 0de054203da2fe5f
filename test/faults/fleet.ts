/**
 * A fleet: one or more replicas of the delivery service, ten destinations whose receivers keep a ledger, and a feed
 * that writes to `deliveries` continuously. No other service runs, so that only the delivery service can cause repeats.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { applyConfiguration, type Destination } from '@tailrace/config';
import type { ConsumedRecord, Publisher } from '@tailrace/kafka';
import { parseDuration } from '@tailrace/events';
import { deliveryKey, encodeDelivery, type Delivery } from '@tailrace/records';
import { tierDelaysMs } from '@tailrace/topology';
import { collect, type Collected, eventually } from '@tailrace/testing';
import { openKafka } from '../support/kafka/kafka-client.ts';
import { openLedger, type Ledger } from '../support/oracle/ledger.ts';
import { isConserved, report } from '../support/oracle/oracle.ts';
import { startService, type ServiceProcess } from '../support/processes/process.ts';
import { steadily } from '../support/steadily.ts';
import type { Receiver, ReceiverOptions } from '../support/receivers/receiver.ts';
import { explainRepeats, type Disruption, type Explanation } from '../support/oracle/repeats.ts';
import { createTopics, headerOf, readAll, uniquePrefix } from '../support/kafka/topics.ts';
import {
  lateSince,
  movesIn,
  partitionsIn,
  presentPartitionsIn,
  trailsOf,
} from '../support/oracle/evidence.ts';

export interface FleetOptions {
  readonly brokers: readonly string[];
  /** In the format of TAILRACE_RETRY_SCHEDULE. */
  readonly schedule: string;
  /** The receiver of each destination. */
  readonly receivers: readonly ReceiverOptions[];
}

export interface Fleet extends AsyncDisposable {
  readonly prefix: string;
  readonly ledger: Ledger;
  /** In the order of the options. */
  readonly destinations: readonly { readonly id: string; readonly receiver: Receiver }[];
  /** Records that the service has written to retry topics. */
  readonly copies: Collected<ConsumedRecord>;
  /** Starts another replica; resolves when it has joined the group. */
  join(): Promise<ServiceProcess>;
  /** Starts the receiver of a destination again, on its port. */
  reopen(place: number): Promise<void>;
  /** Kills a replica with SIGKILL. */
  kill(replica: ServiceProcess): Promise<void>;
  /** Resolves when the backlog of the feed and some further deliveries are finished. */
  caughtUp(): Promise<void>;
  /** Resolves when deliveries that failed since this call wait in retry topics, and requests are in flight. */
  busy(): Promise<void>;
  /** Resolves when offsets of `deliveries` are committed. */
  committed(): Promise<void>;
  /** Notes that no offset could be committed in this time. */
  cutOff(from: number, until: number): void;
  /** Ends the feed, waits until all deliveries are finished, and asserts that none is lost or altered and that every repeat is explained. */
  conclude(t: TestContext): Promise<Explanation['causes']>;
}

const partitions = 6;
const feedEveryMs = 50;
const feedPerTurn = 3;
/** The feed pauses while more deliveries than this are outstanding, which bounds the backlog while the service is down. */
const mostOpen = 800;
/** Without a backlog, at most this many deliveries wait for a response or a retry. */
const fewOpen = 150;
const someMore = 150;
const busyRetries = 8;
/** Deliveries finished within half a second before a crash may be repeated; commits take longer on a busy machine. */
const repeatableMs = 500 + 2_000;

export async function openFleet(options: FleetOptions): Promise<Fleet> {
  const { brokers, schedule, receivers } = options;
  await using opened = new AsyncDisposableStack();
  const kafka = opened.use(openKafka(brokers));
  const prefix = uniquePrefix();
  const scheduleMs = schedule.split(',').map((delay) => parseDuration(delay) ?? NaN);
  const names = await createTopics(kafka, prefix, { partitions, retryScheduleMs: scheduleMs });
  const ledger = opened.use(await openLedger(kafka, names.deliveriesDead));

  const destinations: { id: string; receiver: Receiver }[] = [];
  for (const [place, receiver] of receivers.entries()) {
    const id = `destination-${place}`;
    destinations.push({ id, receiver: await ledger.receive(() => id, receiver) });
  }
  await applyConfiguration(kafka, names.config, {
    sources: [],
    destinations: destinations.map(({ id, receiver }): Destination => {
      return {
        id,
        type: 'Webhooks',
        enabled: true,
        sources: [],
        settings: { webhooks: [{ url: receiver.url }] },
      };
    }),
  });

  const copies = collect<ConsumedRecord>('the tiers', (record) => headerOf(record, 'delivery-id') ?? '');
  for (const delayMs of tierDelaysMs(scheduleMs)) {
    const follower = await kafka.follow({ topic: names.retryTier(delayMs), onRecord: copies.add });
    opened.defer(() => follower.close());
  }

  const replicas: ServiceProcess[] = [];
  opened.defer(async () => {
    for (const replica of replicas) await replica.stop();
  });
  const disruptions: Disruption[] = [];
  const ids = destinations.map(({ id }) => id);
  const feed = opened.use(startFeed(kafka.publisher(), names.deliveries, ids, ledger));

  const all = opened.move();
  return {
    prefix,
    ledger,
    destinations,
    copies,
    async join() {
      const replica = await startService('delivery', {
        KAFKA_BROKERS: brokers.join(','),
        TAILRACE_TOPIC_PREFIX: prefix,
        TAILRACE_METRICS_PORT: '0',
        TAILRACE_RETRY_SCHEDULE: schedule,
        TAILRACE_RETRY_WINDOW: '5m',
        // Longer than any response takes, so that a timeout is never the cause of a repeat.
        TAILRACE_DELIVERY_TIMEOUT: '30s',
        TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
        // The log then shows the assigned partitions and the time of each attempt.
        LOG_LEVEL: 'debug',
        TAILRACE_LOG_ATTEMPTS: 'all',
      });
      replicas.push(replica);
      return replica;
    },
    async reopen(place) {
      const destination = destinations[place];
      assert.ok(destination);
      const { id, receiver } = destination;
      destination.receiver = await ledger.receive(() => id, { ...receivers[place], port: receiver.port });
    },
    async kill(replica) {
      // The last log lines of a killed process are lost, so its assignment must already be in the log.
      await eventually(
        () =>
          replicas
            .filter(({ pid }) => pid !== undefined)
            .flatMap(({ log }) => presentPartitionsIn(log.items, names.deliveries)),
        (owned) => owned.length === partitions && new Set(owned).size === partitions,
      );
      const killedAt = Date.now();
      await replica.kill();
      const from = lateSince(replica.log.items) ?? killedAt;
      const owned = partitionsIn(replica.log.items, names.deliveries);
      disruptions.push({ kind: 'killed', partitions: owned, from, until: Date.now() });
    },
    async caughtUp() {
      const enough = ledger.delivered + someMore;
      await ledger.until(() => ledger.delivered >= enough && ledger.open <= fewOpen);
    },
    async busy() {
      const since = Date.now();
      await ledger.until(() => ledger.retrying(since) >= busyRetries && ledger.inFlight > 0);
    },
    async committed() {
      const finished = async (): Promise<string> => {
        const found = await kafka.finished(`${prefix}delivery`, [names.deliveries]);
        return JSON.stringify([...(found.get(names.deliveries) ?? [])]);
      };
      const before = await finished();
      await eventually(finished, (now) => now !== before);
    },
    cutOff(from, until) {
      const all = new Set(Array.from({ length: partitions }, (_, partition) => partition));
      disruptions.push({ kind: 'cut off', partitions: all, from, until });
    },
    async conclude(t) {
      await feed.end();
      await ledger.drained();
      // Stopping the service also ends repeats that are still in flight.
      for (const replica of replicas) await replica.stop();
      const verdict = await ledger.verdict();
      t.diagnostic(report(verdict));

      const logs = replicas.map(({ log }) => log.items);
      const written = await readAll(kafka, names.deliveries);
      const trails = trailsOf({ entries: ledger.entries, written, copies: copies.items, logs });
      const moves = movesIn(logs, names.deliveries);
      const { causes, unexplained, oldestMs } = explainRepeats(
        trails,
        [...disruptions, ...moves],
        repeatableMs,
      );
      const counts = Object.entries(causes).map(([cause, count]) => `${cause} ${count}`);
      t.diagnostic(`repeats by cause: ${counts.join(', ')}; last seen at most ${oldestMs} ms before it`);
      assert.ok(isConserved(verdict), report(verdict));
      assert.deepEqual(unexplained, []);
      return causes;
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

interface Feed extends Disposable {
  /** Resolves when Kafka has acknowledged every record. */
  end(): Promise<void>;
}

/** Writes deliveries to the destinations in turn, and enters them in the ledger. */
function startFeed(
  publisher: Publisher,
  topic: string,
  destinationIds: readonly string[],
  ledger: Ledger,
): Feed {
  const published: Promise<void>[] = [];
  const write = (): void => {
    const number = published.length;
    const delivery = deliveryOf(number, destinationIds[number % destinationIds.length] ?? '');
    ledger.owe(delivery);
    published.push(publisher.publish(encodeDelivery(topic, delivery)));
  };
  const feeding = steadily(feedEveryMs, () => {
    if (ledger.open > mostOpen) return;
    for (let count = 0; count < feedPerTurn; count += 1) write();
  });
  return {
    async end() {
      feeding[Symbol.dispose]();
      await Promise.all(published);
    },
    [Symbol.dispose]() {
      feeding[Symbol.dispose]();
    },
  };
}

function deliveryOf(number: number, destinationId: string): Delivery {
  const eventId = `event-${number}`;
  const userId = `user-${number % 997}`;
  const properties = { id: eventId, size: number / 8, filler: 'x'.repeat(number % 500) };
  return {
    deliveryId: `${eventId}.${destinationId}`,
    eventId,
    sourceId: 'web',
    destinationId,
    type: 'track',
    attempt: 0,
    step: 0,
    deferrals: 0,
    closedUrls: [],
    key: deliveryKey(destinationId, userId),
    body: Buffer.from(
      JSON.stringify({ version: 1, type: 'track', userId, event: 'Größe gewählt', properties }),
    ),
  };
}
