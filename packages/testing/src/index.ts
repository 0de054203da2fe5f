export { collect, type Collected, type Wanted } from './collected.ts';
export { eventually } from './eventually.ts';
export { limitMs } from './limit.ts';
