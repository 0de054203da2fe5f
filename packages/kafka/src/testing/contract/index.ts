/**
 * The contract of `@tailrace/kafka`: what services may rely on, as tests. They run against the in-memory cluster
 * (contract.test.ts) and against a real one (test/integration/kafka-contract.test.ts), so that unit tests on the
 * in-memory cluster show what Kafka would do. A behaviour that is added to the in-memory cluster is added here.
 */
import { after, before, describe } from 'node:test';
import type { ContractCluster, OpenCluster } from './cluster.ts';
import { testConsuming } from './consuming.ts';
import { testLag } from './lag.ts';
import { testPublishing } from './publishing.ts';
import { testReading } from './reading.ts';
import { testTopics } from './topics.ts';
import { testTransactions } from './transactions.ts';

export type { ContractCluster } from './cluster.ts';

/** Registers the tests. `open` is called once. */
export function testKafkaContract(name: string, open: OpenCluster): void {
  describe(name, () => {
    let opened: Awaited<ReturnType<OpenCluster>>;
    before(async () => {
      opened = await open();
    });
    after(() => opened[Symbol.asyncDispose]());
    const cluster = (): ContractCluster => opened;
    testPublishing(cluster);
    testConsuming(cluster);
    testLag(cluster);
    testReading(cluster);
    testTransactions(cluster);
    testTopics(cluster);
  });
}
