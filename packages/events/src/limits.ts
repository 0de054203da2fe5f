/** The limits of the tracking API (specification, section 8), in bytes after decompression. */

export const maxCallBytes = 32 * 1024;
export const maxBatchBytes = 500 * 1024;
export const maxBatchCalls = 2500;

/**
 * The largest event that may stand in `events`. It is more than a call, because enrichment adds times and ids,
 * repeats traits that only the context held, and merges in the context of the batch.
 */
export const maxEventBytes = 2 * maxCallBytes + 4096;

/**
 * What one call of a batch weighs: its bytes as compact JSON in UTF-8. Only a batch larger than
 * {@link maxCallBytes} can hold a call that is, so most need no measuring. A call nested too deeply to be
 * written as JSON weighs `Infinity`.
 */
export function callBytes(call: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(call));
  } catch (error) {
    if (error instanceof RangeError) return Infinity;
    throw error;
  }
}
