/**
 * Several brokers for a test of its own, for what one broker cannot show: replication, in-sync minima, a broker that
 * hangs or dies while others serve. Real Kafka (KRaft), each node both broker and controller; some seconds to start.
 *
 *     await using cluster = await ownCluster();
 *     await cluster.node(2).freeze(); // SIGSTOP; thaw() is SIGCONT
 *     await cluster.node(3).kill();   // SIGKILL; restart() brings it back, on its port and data
 */
import { startCluster, type Cluster, type ClusterOptions } from '@tailrace/local';

export type { Cluster, ClusterNode } from '@tailrace/local';

/** Three brokers where `size` says nothing else; `await using` ends them and removes their data. */
export function ownCluster(options: Omit<ClusterOptions, 'env'> = {}): Promise<Cluster> {
  return startCluster({ env: process.env, ...options });
}
