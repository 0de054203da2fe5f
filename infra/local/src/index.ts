export {
  discardData,
  startBroker,
  startOwnBroker,
  type Broker,
  type BrokerOptions,
  type OwnBroker,
} from './broker/broker.ts';
export { resolveJars } from './broker/jars.ts';
export { startCluster, type Cluster, type ClusterNode, type ClusterOptions } from './broker/cluster.ts';
export type { BrokerChanges } from './broker/node.ts';
export { freePort, isFree, reservePort } from './ports.ts';
export { startScript, withThisNode } from './start-script.ts';
export { startRegistry, type LocalRegistry, type RegistryOptions } from './registry/registry.ts';
