import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { original, patched } from '../testing/original.ts';

interface Encoded {
  readonly buffer: Buffer;
}
type Frame = (request: object) => Promise<Encoded>;
type Encoder = new () => Encoded & { writeBytes(bytes: Buffer): Encoded };

async function frame(load: typeof original, payload: Buffer, correlationId = 1, clientId = 'router') {
  const Encoder = load('protocol/encoder') as Encoder;
  const encoded = new Encoder().writeBytes(payload);
  const request = { apiKey: 1, apiVersion: 11, encode: () => Promise.resolve(encoded) };
  return (load('protocol/request') as Frame)({ correlationId, clientId, request });
}

test('a frame has the same bytes as that of the original', async () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 });
  const bytes = fc.uint8Array({ maxLength: 2_000 }).map((array) => Buffer.from(array));
  await fc.assert(
    fc.asyncProperty(text, bytes, fc.nat(), async (clientId, payload, correlationId) => {
      const [theirs, ours] = await Promise.all(
        [original, patched].map((load) => frame(load, payload, correlationId, clientId)),
      );
      assert.deepEqual(ours?.buffer, theirs?.buffer);
    }),
  );
});

test('a request is not copied into buffers of zeros', async (t: TestContext) => {
  const payload = Buffer.alloc(100_000);
  const zeros = async (load: typeof original): Promise<number> => {
    const Encoder = load('protocol/encoder') as Encoder;
    const encoded = new Encoder().writeBytes(payload);
    const alloc = t.mock.method(Buffer, 'alloc');
    const request = { apiKey: 1, apiVersion: 11, encode: () => Promise.resolve(encoded) };
    await (load('protocol/request') as Frame)({ correlationId: 1, clientId: 'router', request });
    const total = alloc.mock.calls.reduce((sum, { arguments: [size] }) => sum + size, 0);
    alloc.mock.restore();
    return total;
  };
  assert.ok((await zeros(original)) > 2 * payload.length);
  assert.equal(await zeros(patched), 0);
});
