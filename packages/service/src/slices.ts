/** A long text, made a slice at a time, so that the event loop is free for other work in between. */
import { setImmediate as immediate } from 'node:timers/promises';

/** Far below the 20 ms that the loop may be held: on a busy machine a slice takes longer than it should. */
const sliceMs = 5;
const sliceLength = 64 * 1024;

export type Slicer = (lines: Iterable<string>) => AsyncGenerator<string, void, undefined>;

/** In one turn of the loop there is one slice, of all texts of this slicer. */
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
