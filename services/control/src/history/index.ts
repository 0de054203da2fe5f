export { addCounts, noCounts, percentile, type Counts } from './store/counts.ts';
export type { CountedDelivery, DeliveryFilter, DeliveryPosition } from './store/deliveries.ts';
export { deliveryStatuses, type DeliveryStatus } from './store/delivery-row.ts';
export type { AttemptRow } from './store/facts.ts';
export { openHistory, type History, type HistoryOptions, type HistoryStatus } from './history.ts';
export type { EventOutcomes } from './store/outcomes.ts';
