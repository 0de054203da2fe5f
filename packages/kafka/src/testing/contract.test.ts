import { MemoryCluster } from './cluster.ts';
import { testKafkaContract } from './contract/index.ts';

testKafkaContract('the in-memory cluster', () => {
  let topics = 0;
  const cluster = Object.assign(new MemoryCluster(), {
    newName: () => `topic-${(topics += 1)}`,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  return Promise.resolve(cluster);
});
