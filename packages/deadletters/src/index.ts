export type { DeadLetterFilter } from './filter.ts';
export type { DeadLetter, DeadLetterFacts } from './letter.ts';
export {
  findDeadLetters,
  newestDeadLetters,
  tallyDeadLetters,
  type ListPosition,
  type DeadLetterTally,
  type TallyRow,
} from './list.ts';
export { Pace } from './pace.ts';
export type { ReadOptions } from './read.ts';
export { replayDeadLetters, type ReplayOptions, type ReplayResult } from './replay.ts';
