/** The exports that all platforms have. */
export type { CloseOptions, CloseResult, Stats } from './analytics.ts';
export { AnalyticsError, type AnalyticsErrorCode } from './errors.ts';
export type {
  Alias,
  AnyEvents,
  CallType,
  CommonFields,
  EventMap,
  Group,
  Identify,
  Integrations,
  Messages,
  Middleware,
  MiddlewareCall,
  Page,
  Screen,
  Track,
  User,
} from './messages.ts';
