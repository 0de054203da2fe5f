import { limitMs, realTimers } from './limit.ts';

const pauseMs = 20;

/**
 * Repeats `ask` until `holds(answer)`, and resolves with that answer.
 *
 * @throws Error with the last answer where it does not hold within the limit of all tests
 */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  holds: (answer: T) => boolean = Boolean,
): Promise<T> {
  const over = new AbortController();
  const timer = realTimers.setTimeout(() => {
    over.abort();
  }, limitMs);
  try {
    for (;;) {
      const answer = await ask();
      if (holds(answer)) return answer;
      if (over.signal.aborted) throw new Error(`not within ${limitMs} ms: ${JSON.stringify(answer)}`);
      await new Promise((resolve) => realTimers.setTimeout(resolve, pauseMs));
    }
  } finally {
    realTimers.clearTimeout(timer);
  }
}
