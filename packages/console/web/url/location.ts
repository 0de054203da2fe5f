/**
 * The state of the page is in the fragment of its address: `#/deliveries?status=dead`. So it can be sent to a colleague, it works under
 * any path prefix without a setting, and ids of users are neither in logs of servers nor in Referer headers.
 */
import { signal } from '@preact/signals';

export interface Place {
  /** `/deliveries/1f0c`, decoded by steps: `['deliveries', '1f0c']`. */
  readonly steps: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** What a page gets: its place, without the step that names the page. */
export type PageProps = Place;

export type Query = Readonly<Record<string, string | number | undefined>>;

/** An address in this page, for `href`. Steps and values are encoded; undefined and empty values are left out. */
export function hrefOf(steps: readonly string[], query: Query = {}): string {
  return `#/${steps.map(encode).join('/')}${queryOf(query)}`;
}

/** With its question mark; empty where nothing is given. */
export function queryOf(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

/** Half of a surrogate pair, as a sender may put into a name, cannot be encoded. */
function encode(step: string): string {
  return encodeURIComponent(step.toWellFormed());
}

export function parsePlace(hash: string): Place {
  const whole = hash.replace(/^#?\/?/, '');
  const end = whole.indexOf('?');
  const path = end < 0 ? whole : whole.slice(0, end);
  return {
    steps: path.split('/').filter(Boolean).map(decode),
    query: Object.fromEntries(new URLSearchParams(end < 0 ? '' : whole.slice(end + 1))),
  };
}

/** An address that somebody shortened in the middle of `%2F` is not an error. */
function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

const atStart = typeof window === 'undefined' ? '' : window.location.hash;
export const place = signal<Place>(parsePlace(atStart));

export function followLocation(): void {
  window.addEventListener('hashchange', () => {
    place.value = parsePlace(window.location.hash);
  });
}

export function go(steps: readonly string[], query: Query = {}): void {
  window.location.hash = hrefOf(steps, query);
}

/** After an action: goes there only if the reader is still at the place where it began. */
export function goFrom(begin: Place, steps: readonly string[], query: Query = {}): void {
  if (place.peek() === begin) go(steps, query);
}

/** Changes some values of the query and keeps the others. It makes no new entry in the history of the browser. */
export function setQuery(changes: Query): void {
  const { steps, query } = place.peek();
  window.history.replaceState(null, '', hrefOf(steps, { ...query, ...changes }));
  place.value = parsePlace(window.location.hash);
}
