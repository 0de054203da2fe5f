/** Generates a long text in slices, so that the event loop is free for other work between them. */
import { setImmediate as immediate } from 'node:timers/promises';

/** Well below the 20 ms for which the event loop may be blocked, because slices take longer on a busy machine. */
const sliceMs = 5;
const sliceLength = 64 * 1024;

export type Slicer = (lines: Iterable<string>) => AsyncGenerator<string, void, undefined>;

/** Each turn of the event loop generates one slice, across all texts of this slicer. */
export function createSlicer(): Slicer {
  let last = Promise.resolve();
  const turn = (): Promise<void> => (last = last.then(() => immediate()));

  return async function* (lines) {
    let slice = '';
    await turn();
    let endsAt = performance.now() + sliceMs;
    for (const line of lines) {
      slice += line;
      if (slice.length < sliceLength && performance.now() < endsAt) continue;
      yield slice;
      slice = '';
      await turn();
      endsAt = performance.now() + sliceMs;
    }
    if (slice !== '') yield slice;
  };
}
