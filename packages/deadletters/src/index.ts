export { matches, type DeadLetterFilter } from './filter.ts';
export {
  hasNoBody,
  lastAnswersOf,
  readDeadLetter,
  type DeadLetter,
  type DeadLetterSummary,
} from './dead-letter.ts';
export {
  addCount,
  countDeadLetters,
  countOf,
  findDeadLetters,
  newestDeadLetters,
  sortedCounts,
  type ListPosition,
  type DeadLetterCounts,
  type CountRow,
} from './list.ts';
export { RateLimiter } from './rate-limiter.ts';
export { isExpected, reasonProblem } from './reason.ts';
export { PacedWriter, pause } from './paced-writer.ts';
export { readDeadLetters, type ReadOptions } from './read.ts';
export { ReplayWriter, type Replayed, type WriterSession } from './replay-writer.ts';
export { replayRecord } from './replay-record.ts';
export { replayDeadLetters, requireReplayTopic, type ReplayOptions, type ReplayResult } from './replay.ts';
