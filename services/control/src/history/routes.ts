/** The routes of the history, in the order of the OpenAPI document. */
import type { ConfigView } from '@tailrace/config';
import type { Kafka } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topology';
import type { Api } from '../http/api.ts';
import type { RecordReader } from '../records/reader.ts';
import { attemptRoutes } from './attempt-routes.ts';
import { decisionRoutes } from './decision-routes.ts';
import { deliveryRoutes } from './delivery-routes.ts';
import { eventRoutes, type EventNeeds } from './event-routes.ts';
import type { Exports } from '../exports/export.ts';
import { liveRoutes } from './live-routes.ts';
import { overviewRoutes } from './overview-routes.ts';
import { statisticsRoutes } from './statistics-routes.ts';
import type { Streams } from '../streams/streams.ts';
import { usageRoutes } from './usage-routes.ts';

export interface HistoryNeeds extends EventNeeds {
  readonly kafka: EventNeeds['kafka'] & Pick<Kafka, 'ends'>;
  readonly config: ConfigView;
  readonly records: RecordReader;
  readonly exports: Exports;
  readonly names: TopicNames;
  readonly streams: Streams;
}

export function historyRoutes(app: Api, needs: HistoryNeeds): void {
  const { kafka, names, config, exports, history, streams } = needs;
  usageRoutes(app, config, history);
  deliveryRoutes(app, needs);
  decisionRoutes(app, history, exports);
  eventRoutes(app, needs);
  statisticsRoutes(app, config, history);
  overviewRoutes(app, needs);
  liveRoutes(app, streams, config);
  attemptRoutes(app, streams, () => kafka.ends(names.attempts));
}
