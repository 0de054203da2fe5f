/** Keeps works of one key in order where some of them have to wait, and holds up no other key. */

/** `work` returns a promise where it has to wait, and undefined where it is already over. */
export type TakeTurn = (key: string | undefined, work: () => Promise<void> | undefined) => void;

/** Runs each work at once, unless an earlier one of its key still waits. Works without a key never wait for others. */
export function createTurns(): TakeTurn {
  const last = new Map<string, Promise<void>>();
  return (key, work) => {
    const earlier = key === undefined ? undefined : last.get(key);
    const turn = earlier ? earlier.then(work) : work();
    if (!turn) return;
    // A work that fails is a defect; left unhandled, it ends the process.
    if (key === undefined) {
      void turn;
      return;
    }
    last.set(key, turn);
    void turn.then(() => {
      if (last.get(key) === turn) last.delete(key);
    });
  };
}
