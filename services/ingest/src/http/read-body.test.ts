import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import fc from 'fast-check';
import { callLimit } from './decode-body.ts';
import { readBody } from './read-body.ts';
import { createMemoryBudget } from '../memory/budget.ts';

/** A request whose body the test writes. */
function requestWith(headers: Readonly<Record<string, string>> = {}): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), { headers }) as unknown as PassThrough & IncomingMessage;
}

test('a body is read completely, with any chunk sizes and any declared length', async () => {
  const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 3_000 }), { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(chunks, fc.option(fc.nat(40_000)), async (chunks, declared) => {
      const budget = createMemoryBudget(2 ** 20);
      const request = requestWith(declared === null ? {} : { 'content-length': String(declared) });
      const { body } = readBody(request, callLimit, budget.open(0));
      for (const chunk of chunks) request.write(chunk);
      request.end();
      const whole = Buffer.concat(chunks);
      assert.deepEqual(await body, whole);
      assert.ok(budget.heldBytes >= whole.length);
      assert.ok(budget.heldBytes <= Math.max(4 * whole.length, 1));
    }),
  );
});

test('a declared length is trusted only up to a multiple of the received bytes', async () => {
  const budget = createMemoryBudget(2 ** 20);
  const request = requestWith({ 'content-length': '32768' });
  readBody(request, callLimit, budget.open(0));
  for (const chunk of ['{', '"']) request.write(chunk);
  await new Promise(setImmediate);
  assert.equal(budget.heldBytes, 8);
});

test('a body that is too large is discarded and read to its end', async () => {
  const budget = createMemoryBudget(2 ** 20);
  const request = requestWith();
  const { body } = readBody(request, callLimit, budget.open(0));
  request.write(Buffer.alloc(callLimit.bytes));
  request.write(Buffer.alloc(1));
  await new Promise(setImmediate);
  assert.equal(budget.heldBytes, 0);
  request.end();
  await assert.rejects(body, { code: 'call-too-large' });
});

test('a body beyond the memory budget is refused while it arrives', async () => {
  const budget = createMemoryBudget(30_000);
  const other = budget.open(0);
  other.reserve(15_000, 'overloaded');
  const request = requestWith();
  const { body } = readBody(request, callLimit, budget.open(0));
  request.write(Buffer.alloc(10_000));
  await assert.rejects(body, { code: 'overloaded' });
  assert.equal(budget.heldBytes, 15_000);
});
