/**
 * Makes the library measure durations by a clock that cannot be set. It uses `Date.now()`: where the clock of the machine is set
 * forward and then right again, it would send no heartbeat until the time that it had been, and neither end a throttling
 * nor time out a request. The broker then removes the member, which goes on without knowing it.
 *
 * The timestamps of records are in other files of the library, and in produce.ts.
 */
import { registerHooks } from 'node:module';

const measuring = /\/kafkajs\/src\/(cluster|consumer|network)\//;
const monotonic = 'const Date = { now: () => performance.now() };';

/** Applies to files of the library that are loaded from now on. Returns a function that ends it. */
export function loadMonotonic(): () => void {
  const hooks = registerHooks({
    load(url, context, load) {
      const loaded = load(url, context);
      const { source } = loaded;
      if (!measuring.test(url) || typeof source !== 'string') return loaded;
      return { ...loaded, source: monotonic + source };
    },
  });
  return () => {
    hooks.deregister();
  };
}
