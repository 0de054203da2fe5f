/**
 * Defect: the library turns to the next of the configured brokers only where one refuses connections. One that accepts them and hangs, or
 * closes them, as a proxy does before a dead broker, is asked again and again, also by a client that connects again, while the others could
 * answer. And a client that asks any broker where a group is coordinated gives up where it cannot connect to the first that it chose.
 *
 * Upstream: no issue found.
 *
 * Patch: a broker that does not answer when it is connected to counts as one that cannot be connected to, and a client that connects again
 * begins with the next broker. Each broker is asked for the coordinator until one answers.
 */
import { libraryModule, replacing, type LibraryClass, type Patch } from '../apply.ts';

interface Broker {
  readonly brokerAddress: string | null;
  connect(): Promise<void>;
}

/** The library's class for the brokers of one client: the members that are used here. */
export interface BrokerPool {
  /** The one that is asked which others there are. */
  readonly seedBroker: object | undefined;
  /** Makes it the next one of the configured brokers. */
  createSeedBroker(): Promise<void>;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  getNodeIds(): string[];
  /** Connects to it. */
  findBroker(of: { nodeId: string }): Promise<object>;
  /** Calls `ask` with one broker after the other, in random order, until one answers. Resolves with null where none does. */
  withBroker<T>(ask: (of: { nodeId: string; broker: object }) => Promise<T>): Promise<T | null>;
}

interface Errors {
  readonly KafkaJSConnectionError: new (message: string, of: { broker: string | null }) => Error;
}

const noAnswer = new Set(['KafkaJSRequestTimeoutError', 'KafkaJSConnectionClosedError']);

export const hungBroker: readonly Patch[] = [
  replacing('broker/index', (Original: LibraryClass<Broker>): LibraryClass<Broker> => {
    const { KafkaJSConnectionError } = libraryModule('errors') as Errors;
    return class BrokerThatMayHang extends Original {
      override async connect(): Promise<void> {
        try {
          await super.connect();
        } catch (error) {
          const { name, message } = error as Error;
          if (!noAnswer.has(name)) throw error;
          throw new KafkaJSConnectionError(message, { broker: this.brokerAddress });
        }
      }
    };
  }),
  replacing('cluster/brokerPool', (Original: LibraryClass<BrokerPool>): LibraryClass<BrokerPool> => {
    const shuffle = libraryModule('utils/shuffle') as <T>(list: readonly T[]) => T[];
    return class PoolThatGoesOn extends Original {
      #wasDisconnected = false;

      override async connect(): Promise<void> {
        if (this.#wasDisconnected) {
          this.#wasDisconnected = false;
          await this.createSeedBroker();
        }
        await super.connect();
      }

      override async disconnect(): Promise<void> {
        await super.disconnect();
        this.#wasDisconnected = true;
      }

      override async withBroker<T>(
        ask: (of: { nodeId: string; broker: object }) => Promise<T>,
      ): Promise<T | null> {
        const nodeIds = shuffle(this.getNodeIds());
        if (nodeIds.length === 0) return super.withBroker(ask);
        let unconnected: Error | undefined;
        for (const nodeId of nodeIds) {
          try {
            const broker = await this.findBroker({ nodeId }).catch((error: unknown) => {
              unconnected = error as Error;
              throw error;
            });
            return await ask({ nodeId, broker });
          } catch {
            // The next one is asked.
          }
        }
        if (unconnected) throw unconnected;
        return null;
      }
    };
  }),
];
