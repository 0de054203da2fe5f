/**
 * Says when attempts are made, as control pushes it while the page is visible. The open stream also shows at once that control has ended.
 * The browser connects again by itself, with the id of the last event.
 */
import { computed, effect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { connectionLost, signedOut, urlOf } from './client.ts';
import { loadSession, session } from './session.ts';

interface LiveHandlers {
  /** Called while attempts are made, every second. */
  readonly onCounts: () => void;
  /** Called after a pause in which something may have been missed. */
  readonly onMissed?: () => void;
}

const reopenAfterMs = 2_000;
/** At most so often. */
const liveReloadMs = 2_000;
const watching = new Set<{ readonly current: LiveHandlers }>();

export function useLive(handlers: LiveHandlers): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    watching.add(latest);
    return () => watching.delete(latest);
  }, []);
}

/** Loads again while attempts are made. */
export function useLiveReload(reload: (() => unknown) | undefined): void {
  const askedAt = useRef(0);
  useLive({
    onCounts() {
      if (Date.now() - askedAt.current < liveReloadMs) return;
      askedAt.current = Date.now();
      reload?.();
    },
    onMissed: () => reload?.(),
  });
}

const isSignedIn = computed(() => Boolean(session.value) && !signedOut.value);

/** Keeps one stream open while somebody is signed in: a browser has six connections for a server. */
export function followLive(): () => void {
  return effect(() => (isSignedIn.value ? openStream() : undefined));
}

/** Returns what closes it. */
function openStream(): () => void {
  let stream: EventSource | undefined;
  let isFirst = true;
  let reopening: ReturnType<typeof setTimeout> | undefined;
  const open = (): void => {
    const source = new EventSource(urlOf('/v1/stream'));
    stream = source;
    source.addEventListener('hello', (event) => {
      const { missed } = JSON.parse(String(event.data)) as { missed: boolean };
      if (missed || !isFirst) for (const { current } of watching) current.onMissed?.();
      isFirst = false;
    });
    source.addEventListener('counts', () => {
      for (const { current } of watching) current.onCounts();
    });
    source.addEventListener('error', () => {
      if (source.readyState !== EventSource.CLOSED) connectionLost();
      else if (stream === source) {
        // It was refused: the session has ended, a proxy has no instance, or too many pages are open.
        loadSession().catch(connectionLost);
        reopening = setTimeout(follow, reopenAfterMs);
      }
    });
  };
  const close = (): void => {
    clearTimeout(reopening);
    stream?.close();
    stream = undefined;
  };
  /** A hidden page has none. */
  const follow = (): void => {
    close();
    if (!document.hidden) open();
  };
  follow();
  document.addEventListener('visibilitychange', follow);
  return () => {
    document.removeEventListener('visibilitychange', follow);
    close();
  };
}
