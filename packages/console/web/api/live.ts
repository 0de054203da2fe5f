/** Says when attempts are made, as control pushes it while a page is visible. The browser connects again by itself, with the id of the last event. */
import { useEffect, useRef } from 'preact/hooks';
import { connectionLost, urlOf } from './client.ts';

interface LiveHandlers {
  /** Called while attempts are made, every second. */
  readonly onCounts: () => void;
  /** Called after a pause in which something may have been missed. */
  readonly onMissed?: () => void;
}

const reopenAfterMs = 2_000;

export function useLive(handlers: LiveHandlers): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    let stream: EventSource | undefined;
    let isFirst = true;
    let reopening: ReturnType<typeof setTimeout> | undefined;
    const open = (): void => {
      const source = new EventSource(urlOf('/v1/stream'));
      stream = source;
      source.addEventListener('hello', (event) => {
        const { missed } = JSON.parse(String(event.data)) as { missed: boolean };
        if (missed || !isFirst) latest.current.onMissed?.();
        isFirst = false;
      });
      source.addEventListener('counts', () => {
        latest.current.onCounts();
      });
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
  }, []);
}
