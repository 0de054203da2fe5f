import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { batchSchema, callSchemas, callTypes } from './call-schema.ts';
import { readCall } from './read-call.ts';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, strictTypes: false });
const validators = callTypes.map((type) => [type, ajv.compile(callSchemas[type])] as const);

/** Mostly valid, so that calls with a dozen fields are often valid. */
function mostly(good: readonly unknown[], bad: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom(...good) },
    { weight: 1, arbitrary: fc.constantFrom(...bad) },
  );
}

const text = mostly(['ada', 'x'.repeat(101), '', null, 42, 2 ** 53], [1.5, true, [], {}]);
const id = mostly(['ada', 'x'.repeat(1_024), '', null, 42, 2 ** 53], ['x'.repeat(1_025), 1.5, true, [], {}]);
const messageId = mostly(['m', 'x'.repeat(100), '', null, 42], ['x'.repeat(101), 1.5, true, [], {}]);
const object = mostly([{ a: 1 }, {}, [], null], [[1], 'text', 7]);
const time = mostly(['2026-11-21T07:29:33.479Z', null, 1_763_710_173_479], [true, {}]);
const anyCall = fc.record(
  {
    messageId,
    userId: id,
    anonymousId: id,
    previousId: id,
    groupId: id,
    event: text,
    name: text,
    category: text,
    timestamp: time,
    originalTimestamp: time,
    sentAt: time,
    properties: object,
    traits: object,
    context: object,
    integrations: object,
    unknown: object,
  },
  { requiredKeys: [] },
);

test('a call is accepted where its schema allows it, and refused where it does not', () => {
  const counts = { accepted: 0, refused: 0 };
  for (const [type, isValid] of validators) {
    fc.assert(
      fc.property(anyCall, (call) => {
        const { ok } = readCall(call, { type, receivedAt: 0, fallbackMessageId: () => 'made-up' });
        assert.equal(ok, isValid(call), JSON.stringify(isValid.errors));
        counts[ok ? 'accepted' : 'refused'] += 1;
      }),
      { numRuns: 400 },
    );
  }
  assert.ok(counts.accepted > 50 && counts.refused > 50, JSON.stringify(counts));
});

test('the calls of a batch must have a type', () => {
  for (const type of callTypes) ajv.addSchema(callSchemas[type], type);
  const isValid = ajv.compile(batchSchema((type) => type));
  const call = { userId: 'ada', event: 'e' };
  assert.ok(
    isValid({
      batch: [
        { ...call, type: 'track' },
        { ...call, type: 'page' },
      ],
      context: { ip: '' },
    }),
  );
  assert.ok(isValid({ batch: null }));
  assert.ok(!isValid({ batch: [call] }));
  assert.ok(!isValid({ batch: [{ ...call, type: 'delete' }] }));
  assert.ok(!isValid({ batch: call }));
  assert.ok(!isValid({}));
});
