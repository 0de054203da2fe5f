/**
 * How large the events of a batch are at least, from its shared fields alone. Writing an event with a context of 200 KB only to
 * measure it takes almost a millisecond, and a batch may have 2,500 such calls.
 */
import { callBytes, maxEventBytes, type BatchFields, type JsonObject } from '@tailrace/events';
import { isObject } from './records.ts';

/** Whether the event of a call has more than `maxEventBytes` with any other fields. */
export type ExceedsAlready = (call: unknown) => boolean;

/** Undefined where no event is too large because of the shared fields alone. */
export function exceedsAlready({ batchContext, batchIntegrations }: BatchFields): ExceedsAlready | undefined {
  const parts = [sizesOf('context', batchContext), sizesOf('integrations', batchIntegrations)];
  const sharedBytes = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  if (sharedBytes <= maxEventBytes) return undefined;
  return (call) => {
    let bytes = sharedBytes;
    for (const { field, ofKey } of parts) {
      const own = isObject(call) ? call[field] : undefined;
      if (!isObject(own)) continue;
      // Its own keys replace those of the batch.
      for (const key of Object.keys(own)) bytes -= ofKey.get(key) ?? 0;
    }
    return bytes > maxEventBytes;
  };
}

interface Sizes {
  readonly field: 'context' | 'integrations';
  readonly bytes: number;
  readonly ofKey: ReadonlyMap<string, number>;
}

function sizesOf(field: Sizes['field'], shared: JsonObject | undefined): Sizes {
  const ofKey = new Map<string, number>();
  let bytes = 0;
  for (const [key, value] of Object.entries(shared ?? {})) {
    const size = callBytes(key) + callBytes(value);
    ofKey.set(key, size);
    bytes += size;
  }
  return { field, bytes, ofKey };
}
