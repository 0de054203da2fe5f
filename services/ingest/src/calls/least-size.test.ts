import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxEventBytes, type JsonObject } from '@tailrace/events';
import { exceedsAlready } from './least-size.ts';
import { readEvent } from './records.ts';

const text = (length: number): string => 'é'.repeat(length / 2);
const track = { type: 'track', userId: 'ada', event: 'E' };

test('it never refuses a call whose event fits, and refuses those that are far too large', () => {
  const contexts: Record<string, JsonObject> = {
    large: { a: text(40_000), b: text(30_000), c: 1 },
    huge: Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`key-${n}`, text(100)])),
  };
  const own = [undefined, { a: 1 }, { b: 'x' }, { c: 2 }, { a: 1, b: 1 }, contexts['huge'], [], 'x', null];
  for (const batchContext of Object.values(contexts)) {
    for (const batchIntegrations of [undefined, { Webhooks: { text: text(30_000) } }]) {
      for (const context of own) {
        const call = { ...track, context };
        const exceeds = exceedsAlready({ batchContext, batchIntegrations });
        const reading = readEvent(call, 0, { batchContext, batchIntegrations, receivedAt: 0 });
        if (exceeds?.(call)) assert.ok(!reading.ok);
      }
    }
  }
  const exceeds = exceedsAlready({ batchContext: { a: text(maxEventBytes + 2) } }) ?? assert.fail();
  assert.ok(exceeds(track));
  assert.ok(!exceeds({ ...track, context: { a: 1 } }));
  assert.equal(exceedsAlready({ batchContext: { a: text(1_000) } }), undefined);
});
