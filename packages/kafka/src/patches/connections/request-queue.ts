/**
 * Defect: after each response the library sets a timer with a negative time, which Node 24 warns of, and again each time that it ends. It
 * also looks for requests that time out ten times a second on every connection. At low load the timers cost as much as the work on the records.
 * It stops looking when the connection is closed, whatever waits.
 *
 * Upstream: tulios/kafkajs#1556, #1704 and #1751.
 *
 * Patch: timers run while requests wait for their responses, or wait to be sent, and only then.
 */
import { replacing, type LibraryClass } from '../apply.ts';

/** The library's class for the requests of one connection: the members that are used here. */
export interface RequestQueue {
  readonly inflight: ReadonlyMap<number, PendingAnswer>;
  readonly pending: readonly unknown[];
  readonly enforceRequestTimeout: boolean;
  requestTimeoutIntervalId: NodeJS.Timeout | undefined;
  push(request: unknown): void;
  destroy(): void;
  scheduleCheckPendingRequests(): void;
  scheduleRequestTimeoutCheck(): void;
}

interface PendingAnswer {
  /** By `performance.now()`; see clock.ts. */
  readonly sentAt: number;
  readonly requestTimeout: number;
  timeoutRequest(): void;
}

/** Requests may take seconds. */
const timeoutCheckMs = 500;

export const requestQueue = replacing(
  'network/requestQueue',
  (Original: LibraryClass<RequestQueue>): LibraryClass<RequestQueue> =>
    class SparingQueue extends Original {
      override scheduleCheckPendingRequests(): void {
        if (this.pending.length > 0) super.scheduleCheckPendingRequests();
      }

      /** Called when a connection opens. The timer starts with the first request instead. */
      override scheduleRequestTimeoutCheck(): void {
        this.destroy();
      }

      override push(request: unknown): void {
        super.push(request);
        watchTimeouts(this);
      }

      /** Called when a connection closes. A request may have been sent a moment before, or wait for the end of a throttling. */
      override destroy(): void {
        super.destroy();
        this.requestTimeoutIntervalId = undefined;
        this.scheduleCheckPendingRequests();
        watchTimeouts(this);
      }
    },
);

function watchTimeouts(queue: RequestQueue): void {
  const waiting = (): number => queue.inflight.size + queue.pending.length;
  if (!queue.enforceRequestTimeout || queue.requestTimeoutIntervalId || waiting() === 0) return;
  const timer = setInterval(() => {
    const now = performance.now();
    for (const request of [...queue.inflight.values()]) {
      if (now - request.sentAt > request.requestTimeout) request.timeoutRequest();
    }
    if (waiting() > 0) return;
    clearInterval(timer);
    queue.requestTimeoutIntervalId = undefined;
  }, timeoutCheckMs);
  queue.requestTimeoutIntervalId = timer;
}
