/** What the history can be asked. */
import type { DatabaseSync } from 'node:sqlite';
import { backlogQueries } from './tables/backlog.ts';
import { breakerQueries } from './tables/breakers.ts';
import { deadLetterQueries } from './tables/dead-letters/queries.ts';
import { decisionQueries } from './tables/decisions.ts';
import { deliveryQueries } from './tables/deliveries.ts';
import { flowQueries } from './tables/flow.ts';
import { healthQueries } from './tables/health.ts';
import { issueQueries } from './tables/issues.ts';
import { outcomeQueries } from './tables/outcomes.ts';
import { statisticsQueries } from './tables/statistics/queries.ts';
import { usageQueries } from './tables/usage/queries.ts';

export type Queries = ReturnType<typeof queriesOf>;

export function queriesOf(db: DatabaseSync) {
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
    ...healthQueries(db),
    ...issueQueries(db),
  };
}
