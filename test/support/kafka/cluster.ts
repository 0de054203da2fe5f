/**
 * Several brokers for one test: replication, in-sync minima, a broker that hangs or dies while others continue. Real
 * Kafka (KRaft), each node both broker and controller; it takes some seconds to start.
 *
 *     await using cluster = await ownCluster();
 *     await cluster.node(2).freeze(); // SIGSTOP; thaw() is SIGCONT
 *     await cluster.node(3).kill();   // SIGKILL; restart() starts it again with the same port and data
 */
import { startCluster, type Cluster, type ClusterOptions } from '@tailrace/local';

export type { Cluster, ClusterNode } from '@tailrace/local';

/** Three brokers by default; `await using` ends them and removes their data. */
export function ownCluster(options: Omit<ClusterOptions, 'env'> = {}): Promise<Cluster> {
  return startCluster({ env: process.env, ...options });
}
