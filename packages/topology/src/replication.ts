/** How many copies of each record Kafka keeps, and how many of them an acknowledgement requires. */

export interface Replication {
  /** Copies of each partition, each on a different broker. */
  readonly factor: number;
  /** `min.insync.replicas`: how many copies must have a record before it is acknowledged. */
  readonly minInSync: number;
}

/** As Kafka's documentation recommends: no record is lost where one broker is lost while another is unavailable. */
const defaultFactor = 3;

/**
 * The replication of new topics. More than half of the copies must have a record; with two copies one is enough, because
 * otherwise an unavailable broker would stop all writes.
 *
 * @param brokers how many brokers are available now
 * @param configured TAILRACE_REPLICATION; by default 3, or the number of brokers where that is lower
 * @param existing the replication factors of existing topics; they show brokers that are unavailable now
 */
export function replicationFor(
  brokers: number,
  configured: number | undefined,
  existing: Iterable<number> = [],
): Replication {
  const factor = configured ?? Math.max(1, Math.min(defaultFactor, Math.max(brokers, ...existing)));
  return { factor, minInSync: factor <= 2 ? 1 : Math.floor(factor / 2) + 1 };
}
