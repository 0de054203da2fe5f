export type { DeadLetterFilter } from './filter.ts';
export type { DeadLetter, DeadLetterSummary } from './dead-letter.ts';
export {
  findDeadLetters,
  newestDeadLetters,
  countDeadLetters,
  type ListPosition,
  type DeadLetterCounts,
  type CountRow,
} from './list.ts';
export { RateLimiter } from './rate-limiter.ts';
export type { ReadOptions } from './read.ts';
export { replayDeadLetters, type ReplayOptions, type ReplayResult } from './replay.ts';
