/** Whether the event loop of this process has time to spare, or is itself what everything waits for. */

const busyShare = 0.85;
/** Long enough to mean something; and what was measured longer ago says nothing of now. */
const measuredMs = { least: 100, most: 1_000 };

/** A function that says whether the loop was busy lately; also where it was not asked for a while and cannot tell. */
export function watchLoop(): () => boolean {
  let since = performance.now();
  let before = performance.eventLoopUtilization();
  let isBusy = true;
  return () => {
    const now = performance.now();
    if (now - since < measuredMs.least) return isBusy;
    const until = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(until, before);
    isBusy = now - since > measuredMs.most || utilization > busyShare;
    before = until;
    since = now;
    return isBusy;
  };
}
