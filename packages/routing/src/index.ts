export { acceptedAt } from './accepted-at.ts';
export { bodyFor, encodeBody } from './body.ts';
export { contentHashOf, storedContentHash } from './content.ts';
export { deliveriesOf } from './deliveries.ts';
export { compileFilter, namedTypes } from './filter/filter.ts';
export { isTooLarge, readEvent, readRecord, type ReadRecord, type Rejection } from './read-record.ts';
export { filterableOf, routeEvent, type Routing } from './route-event.ts';
export { createRoutes, type FilteredDestinations, type FilterReason } from './routes.ts';
export { lookUpSource, sourceReference, type SourceReference } from './source.ts';
