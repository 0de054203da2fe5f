/** Attempts and changes as they happen, pushed by control while a page is visible. The browser connects again by itself, with the id of the last event. */
import { useEffect, useRef } from 'preact/hooks';
import { connectionLost, urlOf, type Schema } from './client.ts';

export interface LiveHandlers {
  /** Attempts of the last second. */
  readonly onCounts?: (counts: {
    readonly delivered: number;
    readonly retry: number;
    readonly dead: number;
  }) => void;
  readonly onAttempt?: (attempt: LiveAttempt) => void;
  readonly onConfig?: () => void;
  /** Called after a pause in which something may have been missed. */
  readonly onMissed?: () => void;
}

/** A record of the topic `attempts`. */
export type LiveAttempt = Pick<
  Schema['Delivery'],
  'deliveryId' | 'eventId' | 'sourceId' | 'destinationId' | 'type' | 'event'
> &
  Omit<Schema['Attempt'], 'urls' | 'nextDueAt'>;

const reopenAfterMs = 2_000;

/** @param query `?destination=crm`, or empty */
export function useLive(query: string, handlers: LiveHandlers): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    let stream: EventSource | undefined;
    let isFirst = true;
    let reopening: ReturnType<typeof setTimeout> | undefined;
    const attempts = latest.current.onAttempt ? `${query === '' ? '?' : '&'}attempts=true` : '';
    const open = (): void => {
      const source = new EventSource(urlOf(`/v1/stream${query}${attempts}`));
      stream = source;
      source.addEventListener('hello', (event) => {
        const { missed } = JSON.parse(String(event.data)) as { missed: boolean };
        if (missed || !isFirst) latest.current.onMissed?.();
        isFirst = false;
      });
      source.addEventListener('counts', (event) => {
        latest.current.onCounts?.(
          JSON.parse(String(event.data)) as { delivered: number; retry: number; dead: number },
        );
      });
      source.addEventListener('attempt', (event) => {
        latest.current.onAttempt?.(JSON.parse(String(event.data)) as LiveAttempt);
      });
      source.addEventListener('config', () => latest.current.onConfig?.());
      source.addEventListener('error', () => {
        if (source.readyState !== EventSource.CLOSED) connectionLost();
        // It was refused, as while a proxy has no instance, or while too many pages are open.
        else if (stream === source) reopening = setTimeout(follow, reopenAfterMs);
      });
    };
    /** A hidden page needs none of the six connections that a browser has for a server. */
    const follow = (): void => {
      clearTimeout(reopening);
      stream?.close();
      stream = undefined;
      if (!document.hidden) open();
    };
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      clearTimeout(reopening);
      stream?.close();
    };
  }, [query]);
}
