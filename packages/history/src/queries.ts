/** What the history can be asked. */
import type { DatabaseSync } from 'node:sqlite';
import { backlogQueries, type BacklogQueries } from './tables/backlog.ts';
import { breakerQueries, type BreakerQueries } from './tables/breakers.ts';
import { deadLetterQueries, type DeadLetterQueries } from './tables/dead-letters/queries.ts';
import { decisionQueries, type DecisionQueries } from './tables/decisions.ts';
import { deliveryQueries, type DeliveryQueries } from './tables/deliveries.ts';
import { flowQueries, type FlowQueries } from './tables/flow.ts';
import { outcomeQueries, type OutcomeQueries } from './tables/outcomes.ts';
import { statisticsQueries, type Statistics } from './tables/statistics/queries.ts';
import { usageQueries, type UsageQueries } from './tables/usage/queries.ts';

export interface Queries
  extends
    DeliveryQueries,
    OutcomeQueries,
    DeadLetterQueries,
    DecisionQueries,
    Statistics,
    UsageQueries,
    FlowQueries,
    BacklogQueries,
    BreakerQueries {}

export function queriesOf(db: DatabaseSync): Queries {
  return {
    ...deliveryQueries(db),
    ...outcomeQueries(db),
    ...deadLetterQueries(db),
    ...decisionQueries(db),
    ...statisticsQueries(db),
    ...usageQueries(db),
    ...flowQueries(db),
    ...breakerQueries(db),
    ...backlogQueries(db),
  };
}
