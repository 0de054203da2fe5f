/** Joins calls for the same work without giving a caller work that began before it asked. */

/**
 * A function that runs `work`, never twice at a time. A call made while it runs gets the next run, which all
 * calls made meanwhile share: sharing the one under way could miss what the caller knows has happened.
 */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const start = (): Promise<void> => {
    const run = work().finally(() => {
      if (running === run) running = undefined;
    });
    running = run;
    return run;
  };

  return () => {
    if (next) return next;
    if (!running) return start();
    next = running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
}
