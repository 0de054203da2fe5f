import assert from 'node:assert/strict';
import test from 'node:test';
import { createCalls } from './calls.ts';
import { faultsOf, startReceiver, type Sample } from './receiver.ts';

const secret = 'Jefe';
const body = Buffer.from(
  '{"version":1,"type":"track","event":"Order Completed","properties":{"sequence":"00000007"}}',
);
/** Made with `openssl dgst -sha1 -hmac Jefe`. */
const signature = '111c5b299c6f8159979f3ba57aaaf75d60dedc61';
const right: Sample = { number: 7, body, signature };

test('a sample is right where its signature, its kind and its number are', () => {
  assert.deepEqual(faultsOf([right], secret), []);
});

test('each thing that is wrong with a sample is said', () => {
  const [wrongSignature, ...others] = faultsOf([{ ...right, signature: 'undefined' }], secret);
  assert.match(wrongSignature ?? '', /^call 7 is signed undefined and not [0-9a-f]{40}$/);
  assert.deepEqual(others, []);
  assert.match(faultsOf([{ ...right, number: 8 }], secret).join(), /^call 8 arrived as/);
  const altered = Buffer.from(body.toString().replace('track', 'page'));
  assert.equal(faultsOf([{ ...right, body: altered }], secret).length, 2);
});

test('the receiver tells first arrivals, repeats and strangers apart', async () => {
  await using receiver = await startReceiver();
  const call = createCalls();
  const post = async (text: string): Promise<void> => {
    const { status } = await fetch(receiver.url, { method: 'POST', body: text });
    assert.equal(status, 204);
  };
  await receiver.expect({ first: 10, count: 3 });
  for (const number of [12, 10, 10, 9]) await post(call(number));
  await post('{}');
  await post(call(13));
  const { receivedAt, repeated, unexpected, samples } = await receiver.handOver();
  assert.deepEqual(
    [...receivedAt].map((at) => !Number.isNaN(at)),
    [true, false, true],
  );
  assert.deepEqual({ repeated, unexpected }, { repeated: 2, unexpected: 2 });
  assert.deepEqual(
    samples.map(({ number, body }) => [number, Buffer.from(body).toString()]),
    [
      [12, call(12)],
      [10, call(10)],
    ],
  );
  await post(call(11));
  await receiver.complete(10_000);
});
