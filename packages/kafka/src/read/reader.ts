/**
 * The common parts of followers, tails and scans. They commit nothing. The library reads in consumer groups only, so each
 * of them is the only member of a group with a random name, which Kafka removes when the reader leaves.
 */
import type { Consumer } from 'kafkajs';
import type { KafkaLog } from '../log.ts';
import type { Admin } from '../patches/reading/admin-requests.ts';
import type { Fetching } from '../patches/reading/group-fetch.ts';
import type { ReportUnreadable } from '../unreadable.ts';

/** Creates a consumer of the library, with what decides about its fetches. */
export type CreateReader = (groupId: string, fetching?: Partial<Fetching>) => Consumer;

export interface ReaderDependencies {
  readonly createConsumer: CreateReader;
  readonly admin: Admin;
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
  readonly reportUnreadable: ReportUnreadable;
  /** Aborted when the client of Kafka closes. */
  readonly closing: AbortSignal;
}

/** A reader that does not leave its group in time loses nothing: it has nothing to commit. */
export const leaveTimeoutMs = 2_000;
