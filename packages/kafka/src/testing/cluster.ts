/**
 * An in-memory Kafka cluster of one broker, for unit tests: topics, consumer groups, transactions, and the faults that a
 * test can cause. `connect()` opens the same `Kafka` as `connectKafka` does; only the client library below it is replaced.
 * The contract suite (contract/) runs against this cluster and against a real one.
 *
 * Not included: compaction, retention by time, replication, ACLs, and transactions whose records interleave with others (the
 * records of a transaction get their offsets when it commits).
 */
import type { LibraryClient } from '../clients.ts';
import { openKafka, type Kafka } from '../kafka.ts';
import type { KafkaLog } from '../log.ts';
import type { KafkaObserver } from '../observer.ts';
import { createAdmin } from './admin.ts';
import { MemoryBroker } from './broker.ts';
import { MemoryConsumer } from './consumer.ts';
import { createProducer } from './producer.ts';

const silent = (): void => undefined;
const noLog: KafkaLog = { debug: silent, info: silent, warn: silent, error: silent };

export class MemoryCluster extends MemoryBroker {
  /** Opens a connection, as `connectKafka` does. Any number may be open. */
  connect(log: KafkaLog = noLog, observer: KafkaObserver = {}): Kafka & AsyncDisposable {
    const client: LibraryClient = {
      producer: (config) => createProducer(this, config.transactionalId),
      consumer: (config) => new MemoryConsumer(this, config).asConsumer(),
      admin: () => createAdmin(this),
    };
    const kafka = openKafka(client, { brokers: ['memory:9092'] }, log, observer);
    return { ...kafka, [Symbol.asyncDispose]: () => kafka.close() };
  }
}
