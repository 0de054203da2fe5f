import assert from 'node:assert/strict';
import test from 'node:test';
import { createCalls } from '../load/calls.ts';
import { faultsOf, startReceiver, type Sample } from './receiver.ts';

const secret = 'Jefe';
const body = Buffer.from(
  '{"version":1,"type":"track","event":"Order Completed","properties":{"sequence":"00000007"}}',
);
/** Made with `openssl dgst -sha1 -hmac Jefe`. */
const signature = '111c5b299c6f8159979f3ba57aaaf75d60dedc61';
const right: Sample = { number: 7, body, signature };

test('a sample is valid if its signature, its type and its number are', () => {
  assert.deepEqual(faultsOf([right], secret), []);
});

test('each problem of a sample is reported', () => {
  const [wrongSignature, ...others] = faultsOf([{ ...right, signature: 'undefined' }], secret);
  assert.match(wrongSignature ?? '', /^call 7 is signed undefined and not [0-9a-f]{40}$/);
  assert.deepEqual(others, []);
  assert.match(faultsOf([{ ...right, number: 8 }], secret).join(), /^call 8 arrived as/);
  const altered = Buffer.from(body.toString().replace('track', 'page'));
  assert.equal(faultsOf([{ ...right, body: altered }], secret).length, 2);
});

test('the receiver distinguishes first arrivals, repeats and unknown requests', async () => {
  await using receiver = startReceiver();
  const [url] = await receiver.listen([{ kind: 'answers' }]);
  const call = createCalls();
  const post = async (text: string): Promise<void> => {
    const { status } = await fetch(url, { method: 'POST', body: text });
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

test('each endpoint behaves as configured, and only accepted requests count as arrived', async () => {
  await using receiver = startReceiver();
  const [fails, resets, throttles, failsOnce, silent] = await receiver.listen([
    { kind: 'fails' },
    { kind: 'resets' },
    { kind: 'throttles', perSecond: 0 },
    { kind: 'fails once', oneIn: 2, retryAfterSeconds: [5, 7] },
    { kind: 'is silent' },
  ]);
  const call = createCalls();
  const post = (url: string, number: number): Promise<Response> =>
    fetch(url, { method: 'POST', body: call(number) });
  await receiver.expect({ first: 0, count: 4, arriving: 2 });
  assert.equal((await post(fails, 0)).status, 500);
  await assert.rejects(post(resets, 0));
  assert.equal((await post(throttles, 0)).status, 429);
  await assert.rejects(fetch(silent, { method: 'POST', body: call(0), signal: AbortSignal.timeout(200) }));

  const refused = await post(failsOnce, 2);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '7']);
  assert.equal((await post(failsOnce, 2)).status, 204);
  assert.equal((await post(failsOnce, 3)).status, 204);
  await receiver.complete(10_000);
  const { receivedAt, repeated } = await receiver.handOver();
  assert.deepEqual(
    [...receivedAt].map((at) => !Number.isNaN(at)),
    [false, false, true, true],
  );
  assert.equal(repeated, 0);
});

test('endpoints can be slow, down, untrusted or endless, and one endpoint can have several behaviours by path', async () => {
  await using receiver = startReceiver();
  const [mixed, trickles, selfSigned] = await receiver.listen([
    {
      kind: 'by path',
      paths: {
        '/slow': { kind: 'is slow', eachMs: 50 },
        '/down': { kind: 'is down' },
        '/late': { kind: 'fails', afterMs: 50 },
      },
    },
    { kind: 'trickles' },
    { kind: 'is self-signed' },
  ]);
  const call = createCalls();
  const post = (url: string, number: number, timeoutMs = 10_000): Promise<Response> =>
    fetch(url, { method: 'POST', body: call(number), signal: AbortSignal.timeout(timeoutMs) });
  const statusAt = async (path: string, number: number): Promise<number> =>
    (await post(new URL(path, mixed).href, number)).status;
  await receiver.expect({ first: 0, count: 3 });
  assert.equal(await statusAt('/slow', 0), 204);
  assert.equal(await statusAt('/late', 1), 500);
  assert.equal(await statusAt('/elsewhere', 1), 404);
  assert.equal(await statusAt('/down', 1), 500);
  const recoveredAt = await receiver.recover();
  assert.equal(await statusAt('/down', 1), 204);
  await assert.rejects(post(trickles, 2, 200), /abort/);
  assert.match(selfSigned, /^https:/);
  await assert.rejects(post(selfSigned, 2));
  const { receivedAt } = await receiver.handOver();
  assert.ok((receivedAt[0] ?? NaN) < recoveredAt && (receivedAt[1] ?? NaN) >= recoveredAt);
  assert.ok(Number.isNaN(receivedAt[2]));
});

test('a serial endpoint handles one request after the other', async () => {
  await using receiver = startReceiver();
  const [url] = await receiver.listen([{ kind: 'is serial', eachMs: 20 }]);
  const call = createCalls();
  await receiver.expect({ first: 0, count: 5 });
  await Promise.all([0, 1, 2, 3, 4].map((number) => fetch(url, { method: 'POST', body: call(number) })));
  const { receivedAt } = await receiver.handOver();
  const [first, last] = [Math.min(...receivedAt), Math.max(...receivedAt)];
  // Timers may be a millisecond early.
  assert.ok(last - first >= 4 * 19, `${last - first} ms`);
});
