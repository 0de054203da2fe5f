/** How much of one partition is read ahead. */
export interface PartitionLimits {
  readonly records: number;
  readonly bytes: number;
  /**
   * Finished ranges behind an unfinished record. What is behind about 900 of them may not fit into a commit, and is repeated
   * by the next owner. Default: no limit, for records that wait long.
   */
  readonly gaps?: number;
}
