/**
 * The decompressed body of a request, read with backpressure. An incomplete body throws. If the reader stops early, the rest
 * of the body is discarded and the connection stays open, so that the request can still be answered.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { TailraceError } from '@tailrace/errors';
import { amounts } from '../access/shared.ts';

/**
 * @param isValid whether the token that sends the upload is still valid; otherwise the upload fails with `unauthorized`
 * @throws TailraceError `unsupported-encoding`
 */
export function readUpload(request: IncomingMessage, isValid: () => boolean): AsyncIterable<Buffer> {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity') return whileValid(chunksOf(request), isValid);
  if (encoding === 'gzip' || encoding === 'x-gzip') return whileValid(unzip(request), isValid);
  throw new TailraceError(
    'unsupported-encoding',
    'Send the membership uncompressed, or with Content-Encoding gzip.',
  );
}

async function* whileValid(chunks: AsyncIterable<Buffer>, isValid: () => boolean): AsyncGenerator<Buffer> {
  const check = (): void => {
    if (!isValid()) throw new TailraceError('unauthorized');
  };
  for await (const chunk of chunks) {
    check();
    yield chunk;
  }
  check();
}

const { always, expansion } = amounts.uploadBytes;

function expandsTooFar(): TailraceError {
  return new TailraceError(
    'invalid-membership',
    `The upload is more than ${expansion} times larger than its gzip. Send it uncompressed, or in several audiences. Nothing was changed.`,
  );
}

async function* chunksOf(stream: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } finally {
    stream.resume();
  }
}

async function* unzip(request: IncomingMessage): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  // A pipeline would destroy the connection together with the decompressor.
  const fail = (error: Error): void => {
    gunzip.destroy(error);
  };
  request.once('error', fail);
  request.pipe(gunzip);
  let bytes = 0;
  try {
    for await (const chunk of gunzip) {
      bytes += (chunk as Buffer).length;
      if (bytes > always + expansion * gunzip.bytesWritten) throw expandsTooFar();
      yield chunk as Buffer;
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!code?.startsWith('Z_')) throw error;
    throw new TailraceError(
      'invalid-membership',
      'The upload is not gzip, or is incomplete. Nothing was changed.',
      {
        cause: error,
      },
    );
  } finally {
    request.unpipe(gunzip);
    gunzip.destroy();
    request.resume();
  }
}
