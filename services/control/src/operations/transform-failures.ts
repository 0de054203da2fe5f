/** Counts the failures in a row of the transform of each destination: dead letters of it without an attempt between them. */
import { builtInSource } from '@tailrace/config';
import type { DeadLetterSummary } from '@tailrace/deadletters';

export interface TransformFailures {
  readonly failures: number;
  /** The first of them, in milliseconds since the epoch. */
  readonly since: number;
}

/** So many in a row are reported. */
const reportedFailures = 10;

interface Seen {
  /** When the latest attempt since the first failure began. */
  sentAt: number;
  /** When those after it failed: the first ones. */
  failedAt: number[];
}

/** The topics are read beside one another, so times decide what was in a row. */
export class TransformFailureCounts {
  readonly #byDestination = new Map<string, Seen>();

  /** Failures with operational events are left out, so that they cause none. */
  failed({ destinationId = '', sourceId, reason, diedAt }: DeadLetterSummary): void {
    if (reason !== 'transform-failed' || sourceId === builtInSource.id) return;
    const seen = this.#byDestination.get(destinationId) ?? { sentAt: 0, failedAt: [] };
    this.#byDestination.set(destinationId, seen);
    const { sentAt, failedAt } = seen;
    if (diedAt > sentAt && failedAt.length < reportedFailures) failedAt.push(diedAt);
  }

  attempted(destinationId: string, at: number): void {
    const seen = this.#byDestination.get(destinationId);
    if (!seen) return;
    seen.sentAt = Math.max(seen.sentAt, at);
    seen.failedAt = seen.failedAt.filter((time) => time > at);
  }

  forget(destinationId: string): void {
    this.#byDestination.delete(destinationId);
  }

  /** The destinations whose failures are to be reported. */
  failing(): readonly (readonly [destinationId: string, failures: TransformFailures])[] {
    return Array.from(this.#byDestination, ([id, { failedAt }]) => {
      const [since = 0] = failedAt;
      return [id, { failures: failedAt.length, since }] as const;
    }).filter(([, { failures }]) => failures >= reportedFailures);
  }
}
