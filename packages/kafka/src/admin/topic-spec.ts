/** Topics as they should be, and how they are reported. */

export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  /**
   * The topic that this one must have the same number of partitions as. `partitions` counts only if that topic does not
   * exist.
   */
  readonly samePartitionsAs?: string;
  /** The name in `tailrace topics apply --only` of the topics that must have the same number of partitions. */
  readonly group?: string;
  /** Whether its number of partitions must not change, because its readers rely on the partition of a key. */
  readonly keepsPartitions?: boolean;
  /** Default: that of the broker. */
  readonly replicationFactor?: number;
  /** Kafka's topic settings, such as `retention.ms`. */
  readonly config: Readonly<Record<string, string>>;
}

export interface TopicReport {
  readonly name: string;
  /** `missing` only if topics are inspected and not created. */
  readonly outcome: 'created' | 'missing' | 'exists' | 'differs';
  /** A sentence for each difference, with the command that removes it. */
  readonly differences: readonly string[];
}

export interface TopicDescription {
  readonly partitions: number;
  /** The replicas of the partition that has the fewest. */
  readonly replicationFactor: number;
}
