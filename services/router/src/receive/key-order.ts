/** Keeps tasks of one key in order where some of them wait. Tasks of other keys are not delayed. */

/** A task returns a promise where it waits, and undefined where it has completed. */
export type RunInKeyOrder = (key: string | undefined, task: () => Promise<void> | undefined) => void;

/** Runs each task immediately, unless an earlier task of its key is waiting. Tasks without a key never wait for others. */
export function createKeyOrder(): RunInKeyOrder {
  const lastOfKey = new Map<string, Promise<void>>();
  return (key, task) => {
    const earlier = key === undefined ? undefined : lastOfKey.get(key);
    const running = earlier ? earlier.then(task) : task();
    if (!running) return;
    // A task that fails is a defect: its rejection stays unhandled and ends the process.
    if (key === undefined) {
      void running;
      return;
    }
    lastOfKey.set(key, running);
    void running.then(() => {
      if (lastOfKey.get(key) === running) lastOfKey.delete(key);
    });
  };
}
