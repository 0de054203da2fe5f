/** Traffic at a steady rate, the pause of a client that was refused, and fakes that are slow. */

/** Calls `act` every `everyMs` until it is disposed of. */
export function steadily(everyMs: number, act: () => void): Disposable {
  const timer = setInterval(act, everyMs);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
    },
  };
}

/** As a client waits before it sends again; without a pause it would only load the machine. */
export function backOff(): Promise<void> {
  return pace(50);
}

/** Time between two requests of a load, or that a fake takes; what a test asserts is awaited with `eventually`. */
export function pace(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
