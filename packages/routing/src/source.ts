/** Which source a record belongs to, and whether that source is enabled. */
import type { ConfigView, Source } from '@tailrace/config';

/** How a record names its source. */
export interface SourceReference {
  readonly by: 'id' | 'write-key';
  readonly value: string;
}

export type SourceLookup =
  | { readonly outcome: 'enabled'; readonly source: Source }
  | { readonly outcome: 'disabled'; readonly source: Source }
  | { readonly outcome: 'unknown' };

/**
 * The first that is present decides: the header `source-id`, the header `write-key`, the field `writeKey` of the call, which
 * is for producers that cannot set headers. An empty value counts as absent. Undefined where the record names no source.
 */
export function sourceReference(
  headers: Readonly<Record<string, Buffer>>,
  call: unknown,
): SourceReference | undefined {
  const id = textOf(headers['source-id']);
  if (id !== undefined) return { by: 'id', value: id };
  const field = (call as { writeKey?: unknown } | null | undefined)?.writeKey;
  const writeKey = textOf(headers['write-key']) ?? field;
  return typeof writeKey === 'string' && writeKey !== '' ? { by: 'write-key', value: writeKey } : undefined;
}

export function lookUpSource(
  { by, value }: SourceReference,
  config: Pick<ConfigView, 'source' | 'sourceByWriteKey'>,
): SourceLookup {
  const source = by === 'id' ? config.source(value) : config.sourceByWriteKey(value);
  if (!source) return { outcome: 'unknown' };
  return { outcome: source.enabled ? 'enabled' : 'disabled', source };
}

function textOf(header: Buffer | undefined): string | undefined {
  return header === undefined || header.length === 0 ? undefined : header.toString();
}
