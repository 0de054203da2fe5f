/** How much of one partition is read ahead. */
export interface PartitionLimits {
  readonly records: number;
  readonly bytes: number;
  /**
   * Finished ranges behind an unfinished record. About 900 fit into any commit; what is behind them may not, and is repeated by the
   * next owner. Default: no limit, for records that wait long.
   */
  readonly gaps?: number;
}
