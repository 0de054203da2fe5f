/** Times: in the zone of the reader, with UTC beside it in the title and for screen readers; and how long ago. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { serverNow } from '../api/clock.ts';
import { formatLocal, formatRelative, formatUtc } from './format.ts';

const now = signal(serverNow());
let watchers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** The time, every second, while something shows it. */
export function useNow(): number {
  useEffect(() => {
    watchers += 1;
    now.value = serverNow();
    timer ??= setInterval(() => {
      now.value = serverNow();
    }, 1_000);
    return () => {
      watchers -= 1;
      if (watchers > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return now.value;
}

/** `2026-11-22 14:03:07`, with UTC on hover; `both` also shows UTC, which a page does once. */
export function Time({ at, both }: { readonly at: string | number; readonly both?: boolean }) {
  const date = new Date(at);
  const [local, utc] = [formatLocal(date), formatUtc(date)];
  return (
    <time dateTime={date.toISOString()} title={utc} class="numeric">
      {local}
      {both && (utc === `${local} UTC` ? ' UTC' : <div class="quiet small">{utc}</div>)}
    </time>
  );
}

/** When something is next due: `in 20 s`, and `now` until it has happened. */
export function Due({ at }: { readonly at: string }) {
  const current = useNow();
  return Date.parse(at) < current ? <>now</> : <Ago at={at} />;
}

/** `3 min ago` or `in 20 s`, with the whole time on hover. */
export function Ago({ at }: { readonly at: string | number }) {
  const date = new Date(at);
  const current = useNow();
  return (
    <time dateTime={date.toISOString()} title={`${formatLocal(date)} · ${formatUtc(date)}`} class="numeric">
      {formatRelative(date.getTime() - current)}
    </time>
  );
}
