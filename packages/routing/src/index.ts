export type { FilterRule } from './filter/condition.ts';
export { compileFilter, type CompiledFilter, type FilterableEvent } from './filter/filter.ts';
export { filterableOf, routeEvent, type RoutableEvent, type Routing } from './route-event.ts';
export { createRoutes, type FilteredDestinations, type FilterReason, type SourceRoutes } from './routes.ts';
export { lookUpSource, sourceReference, type SourceLookup, type SourceReference } from './source.ts';
