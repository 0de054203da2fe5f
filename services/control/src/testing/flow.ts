/** Records of deliveries, attempts, decisions and usage in the topics of the tests of control. */
import { createFlow as createFlowOf, type Flow } from '@tailrace/history/testing';
import type { Kafka } from '@tailrace/kafka';
import { names } from './api.ts';

export type { Flow };

export function createFlow(kafka: Pick<Kafka, 'publisher'>): Flow {
  return createFlowOf(kafka, names);
}
