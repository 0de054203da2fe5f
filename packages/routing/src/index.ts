export { lookUpSource, sourceReference, type SourceLookup, type SourceReference } from './source.ts';
export {
  routeEvent,
  type FilteredDestination,
  type FilterReason,
  type RoutableEvent,
  type Routing,
} from './route-event.ts';
