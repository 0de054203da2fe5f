export { MemoryCluster } from './cluster.ts';
export { testKafkaContract, type ContractCluster } from './contract/index.ts';
export { headerOf, watchTopic, type WatchedTopic } from './watch.ts';
