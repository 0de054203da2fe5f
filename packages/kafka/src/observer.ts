/** The events of a connection to Kafka that a service counts. */
import type { UnreadableBatch } from './unreadable.ts';

/** The kinds of requests that Tailrace sends, by Kafka's names. `Connect` opens a connection. */
export const requestApis = [
  ...(['Connect', 'ApiVersions', 'Metadata', 'Produce', 'InitProducerId'] as const),
  ...(['AddPartitionsToTxn', 'EndTxn', 'Fetch', 'ListOffsets', 'OffsetCommit', 'OffsetFetch'] as const),
  ...(['FindCoordinator', 'JoinGroup', 'SyncGroup', 'Heartbeat', 'LeaveGroup', 'other'] as const),
] as const;
export type RequestApi = (typeof requestApis)[number];

/** `error`: Kafka answered with an error. `disconnected`: the connection failed before there was an answer. */
const requestOutcomes = ['ok', 'error', 'timeout', 'disconnected'] as const;
export type RequestOutcome = (typeof requestOutcomes)[number];

/** The functions must not throw. */
export interface KafkaObserver {
  /** Called for each batch that a reader skips because it cannot be read. */
  readonly onUnreadable?: ((batch: UnreadableBatch) => void) | undefined;
  /** Called at the end of each request to a broker. */
  readonly onRequest?: OnRequest | undefined;
}

export type OnRequest = (api: RequestApi, outcome: RequestOutcome, seconds: number) => void;
