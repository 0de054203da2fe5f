export { collect, type Collected, type Wanted } from './collected.ts';
export { eventually } from './eventually.ts';
export { collectGarbage, untilCollected } from './garbage.ts';
export { limitMs, realTimers } from './limit.ts';
export { seeded } from './seeded.ts';
export {
  holdRealTime,
  simulatedStart,
  simulateTime,
  type SimulatedTime,
  type SimulatedTimeOptions,
} from './simulated-time.ts';
