export { bodyFor, encodeBody } from './body.ts';
export { compileFilter } from './filter/filter.ts';
export { filterableOf, routeEvent, type Routing } from './route-event.ts';
export { createRoutes, type FilteredDestinations, type FilterReason } from './routes.ts';
export { lookUpSource, sourceReference, type SourceReference } from './source.ts';
