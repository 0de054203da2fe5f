import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { readUpload } from './upload-stream.ts';

for (const [encoding, bytes] of [
  ['identity', Buffer.from('ada\n')],
  ['gzip', gzipSync('ada\n')],
] as const) {
  test(`an upload (${encoding}) does not outlive the token that sends it`, async () => {
    let isValid = true;
    const request = Object.assign(new PassThrough(), { headers: { 'content-encoding': encoding } });
    const upload = readUpload(request as unknown as IncomingMessage, () => isValid)[Symbol.asyncIterator]();
    request.write(bytes);
    assert.equal(String((await upload.next()).value), 'ada\n');
    isValid = false;
    request.end();
    await assert.rejects(upload.next(), { code: 'unauthorized' });
  });
}
