/**
 * Which entries a request has written, by a header of its records. Where the outcome of a change is unknown to its caller, the
 * request may be sent again, and this shows whether it was executed.
 */
import type { ConsumedRecord } from '@tailrace/kafka';

const requestHeader = 'request-id';
/** The oldest are forgotten first. */
const maxRequests = 10_000;

export function requestHeaders(request: string | undefined): Readonly<Record<string, string>> {
  return request === undefined ? {} : { [requestHeader]: request };
}

export function createRequests() {
  const written = new Map<string, Set<string>>();
  return {
    accept(headers: ConsumedRecord['headers'], key: ConsumedRecord['key']): void {
      const request = headers[requestHeader]?.toString();
      if (request === undefined || key === null) return;
      const entries = written.get(request) ?? new Set();
      written.set(request, entries.add(key.toString()));
      if (written.size > maxRequests) written.delete(written.keys().next().value ?? '');
    },
    /** The keys of the entries. */
    entriesOf: (request: string): readonly string[] => [...(written.get(request) ?? [])],
  };
}
