export { addCounts, noCounts, percentile, type Counts } from './counts.ts';
export type { CountedDelivery, DeliveryFilter, DeliveryPosition } from './deliveries.ts';
export { deliveryStatuses, type DeliveryStatus } from './delivery-row.ts';
export type { AttemptRow } from './facts.ts';
export { openHistory, type History, type HistoryOptions, type HistoryStatus } from './history.ts';
export type { EventOutcomes } from './outcomes.ts';
