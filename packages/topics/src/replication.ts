/** How many copies of each record there are, and how many of them an acknowledgement waits for. */

export interface Replication {
  /** Copies of each partition, each on another broker. */
  readonly factor: number;
  /** `min.insync.replicas`: a record is acknowledged only where so many copies have it. */
  readonly minInSync: number;
}

/** As Kafka's documentation recommends: one broker may be lost, and another be away, without a loss. */
const usualFactor = 3;

/**
 * What new topics get. More than half of the copies must have a record, so that one broker can be away without
 * stopping writes; with two copies that would be both, so there one is enough.
 *
 * @param brokers how many there are now
 * @param asked TAILRACE_REPLICATION; by default 3, or as many as there are brokers
 * @param existing the factors of Tailrace's topics that exist: a broker that is away now is not gone
 */
export function replicationFor(
  brokers: number,
  asked: number | undefined,
  existing: Iterable<number> = [],
): Replication {
  const factor = asked ?? Math.max(1, Math.min(usualFactor, Math.max(brokers, ...existing)));
  return { factor, minInSync: factor <= 2 ? 1 : Math.floor(factor / 2) + 1 };
}
