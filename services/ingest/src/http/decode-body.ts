/** Decodes a request body: bounded decompression, and JSON. */
import { isUtf8 } from 'node:buffer';
import { gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { TailraceError, type ErrorCode } from '@tailrace/errors';
import { maxBatchBytes, maxCallBytes, parseSizedJson } from '@tailrace/events';

/** The largest body after decompression, and the error for a larger one. */
export interface BodyLimit {
  readonly bytes: number;
  readonly exceeded: Extract<ErrorCode, 'call-too-large' | 'batch-too-large'>;
}

export const callLimit: BodyLimit = { bytes: maxCallBytes, exceeded: 'call-too-large' };
export const batchLimit: BodyLimit = { bytes: maxBatchBytes, exceeded: 'batch-too-large' };

/**
 * Inflates synchronously. For so few bytes this costs less than the thread pool, and the limit bounds it to two
 * milliseconds.
 *
 * @throws TailraceError `unsupported-encoding`, `malformed-request`, or the error of the limit
 */
export function decompress(bytes: Buffer, encoding: string | undefined, limit: BodyLimit): Buffer {
  const inflate = inflaterFor(encoding, bytes);
  if (!inflate) return bytes;
  try {
    return inflate(bytes, { maxOutputLength: limit.bytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new TailraceError(limit.exceeded);
    }
    throw new TailraceError(
      'malformed-request',
      `The body is not encoded as its Content-Encoding says: ${encoding ?? ''}. Encode it, or remove the header.`,
      { cause: error },
    );
  }
}

type Inflate = (bytes: Buffer, options: { maxOutputLength: number }) => Buffer;

function inflaterFor(encoding: string | undefined, bytes: Buffer): Inflate | undefined {
  switch (encoding?.trim().toLowerCase()) {
    case undefined:
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return gunzipSync;
    case 'deflate':
      // `deflate` means the zlib format (RFC 9110, section 8.4.1.2), but some senders omit the two bytes of its
      // header.
      return hasZlibHeader(bytes) ? inflateSync : inflateRawSync;
    default:
      throw new TailraceError('unsupported-encoding');
  }
}

/** RFC 1950, section 2.2: method 8, and the two bytes as one number are a multiple of 31. */
function hasZlibHeader(bytes: Buffer): boolean {
  return bytes.length >= 2 && ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0;
}

/** A parsed body. */
export interface Body {
  readonly value: unknown;
  /** What was sent, and what numbers such as 1e20 gain when they are written. The value as JSON is not larger. */
  readonly bytes: number;
}

/** @throws TailraceError `malformed-json` */
export function readJson(bytes: Buffer): Body {
  if (bytes.length === 0) {
    throw new TailraceError('malformed-json', 'The body is empty. Send one JSON object, encoded as UTF-8.');
  }
  if (!isUtf8(bytes)) {
    throw new TailraceError('malformed-json', 'The body is not UTF-8. Encode it as UTF-8 and send it again.');
  }
  const text = bytes.toString('utf8');
  try {
    // RFC 8259, section 8.1, lets a reader ignore a byte order mark.
    const { value, growth } = parseSizedJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
    return { value, bytes: bytes.length + growth };
  } catch (error) {
    // The message of V8 quotes the body, which must not appear in a response.
    throw new TailraceError('malformed-json', undefined, { cause: error });
  }
}
