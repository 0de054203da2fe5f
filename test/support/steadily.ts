/** Clients of a test: traffic at a steady rate, and the pause of one that was refused. */

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
  return new Promise((resolve) => setTimeout(resolve, 50));
}
