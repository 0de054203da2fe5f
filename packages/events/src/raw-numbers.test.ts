/** Calls in which a number keeps its text, at every place where a number can be. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readCall, type ReadResult } from './read-call.ts';
import { parseJson } from './read-json.ts';
import type { JsonObject, TailraceEvent } from './schema.ts';
import { webhookBody } from './webhook-body.ts';

const receivedAt = Date.parse('2026-11-21T12:00:00.000Z');

/** Reads a track call with these fields, as JSON. */
function read(fields: string): ReadResult {
  const call = parseJson(`{"userId":"ada","event":"e","messageId":"m-1",${fields}}`);
  return readCall(call, { type: 'track', receivedAt, fallbackMessageId: () => 'made-up' });
}

function eventOf(fields: string): TailraceEvent {
  const reading = read(fields);
  assert.ok(reading.ok, reading.ok ? '' : reading.message);
  return reading.event;
}

function refusal(fields: string): string {
  const reading = read(fields);
  assert.ok(!reading.ok, 'it should be refused');
  return reading.message;
}

test('as an id, or as the name of an event, it becomes its digits', () => {
  for (const field of [
    'messageId',
    'userId',
    'anonymousId',
    'previousId',
    'groupId',
    'event',
    'name',
  ] as const) {
    assert.equal(eventOf(`"${field}":1234567890123456789`)[field], '1234567890123456789');
    assert.equal(eventOf(`"${field}":25.0`)[field], '25');
    assert.match(
      refusal(`"${field}":1e400`),
      new RegExp(`^${field} must be a string; a number is accepted only`),
    );
    assert.match(refusal(`"${field}":1.50`), new RegExp(`^${field} must be a string`));
  }
});

test('as a time it counts as milliseconds since 1970', () => {
  for (const ms of ['1763710173479.0', '1.763710173479e12', '1763710173479.1234567', '1763710173479.000']) {
    assert.equal(eventOf(`"timestamp":${ms}`).timestamp, '2025-11-21T07:29:33.479Z', ms);
    assert.equal(eventOf(`"sentAt":${ms}`).sentAt, '2025-11-21T07:29:33.479Z', ms);
  }
  assert.match(refusal('"timestamp":1e400'), /^timestamp must be an ISO 8601 date-time/);
  assert.equal(eventOf('"sentAt":1e400').sentAt, undefined);
});

test('as the version it keeps its text, and as the channel it is dropped', () => {
  assert.match(JSON.stringify(eventOf('"version":1e400,"channel":1e400')), /"version":1e400\}$/);
});

test('in place of an object it is refused as a number', () => {
  for (const field of ['properties', 'traits', 'context', 'integrations']) {
    assert.equal(refusal(`"${field}":1e400`), `${field} must be an object, not a number.`);
  }
  const options = { type: 'track', receivedAt, fallbackMessageId: () => 'm' } as const;
  assert.deepEqual(readCall(parseJson('1e400'), options), {
    ok: false,
    code: 'invalid-call',
    message: 'A call must be a JSON object.',
  });
});

test('as context.traits it gives an identify call no traits', () => {
  const call = parseJson('{"userId":"ada","context":{"traits":1e400}}');
  const reading = readCall(call, { type: 'identify', receivedAt, fallbackMessageId: () => 'm' });
  assert.ok(reading.ok && reading.event.traits === undefined);
  assert.match(webhookBody(reading.event), /"context":\{"traits":1e400\},"traits":\{\}/);
});

test('in the context of a batch it is merged into the context of each call', () => {
  const batchContext = parseJson('{"app":{"build":1e400},"ip":1e400}') as JsonObject;
  const call = parseJson('{"userId":"ada","event":"e","context":{"ip":2e400}}');
  const options = { type: 'track', receivedAt, fallbackMessageId: () => 'm', batchContext } as const;
  const reading = readCall(call, options);
  assert.ok(reading.ok);
  assert.match(webhookBody(reading.event), /"context":\{"app":\{"build":1e400\},"ip":2e400\}/);
});

test('it does not count as a level of nesting', () => {
  const nested = (levels: number, inner: string): string =>
    `${'{"a":'.repeat(levels)}${inner}${'}'.repeat(levels)}`;
  for (const inner of ['1', '1.0', '12345678901234567890']) {
    eventOf(`"properties":${nested(100, inner)}`);
    assert.match(refusal(`"properties":${nested(101, inner)}`), /^properties is nested more than 100 levels/);
  }
});

describe('an id', () => {
  const fields = ['userId', 'anonymousId', 'previousId', 'groupId'];

  test('2.6 has at most 1,024 characters, independent of UTF-16 code units', () => {
    for (const field of fields) {
      for (const sign of ['x', '𝄞']) {
        eventOf(`"${field}":"${sign.repeat(1_024)}"`);
        const message = refusal(`"${field}":"${sign.repeat(1_025)}"`);
        assert.equal(message, `${field} must not be longer than 1,024 characters.`);
      }
      assert.match(refusal(`"${field}":${'7'.repeat(1_025)}`), /must not be longer than 1,024 characters/);
      assert.match(refusal(`"${field}":"${'𝄞'.repeat(8_000)}"`), /must not be longer than 1,024 characters/);
    }
  });

  test('2.10 is refused where it contains half a surrogate pair, and so is a messageId', () => {
    for (const field of ['messageId', ...fields]) {
      for (const half of ['\\ud800', '\\udbff', 'a\\udc00b']) {
        assert.equal(
          refusal(`"${field}":"m${half}"`),
          `${field} must not contain half a surrogate pair, which UTF-8 cannot encode.`,
        );
      }
      eventOf(`"${field}":"\\ud834\\udd1e"`);
    }
  });
});

test('2.10 half a surrogate pair in other text stays an escape', () => {
  const event = eventOf('"event":"e\\ud800","properties":{"k\\udfff":"v\\udbff"}');
  assert.ok(webhookBody(event).endsWith('"event":"e\\ud800","properties":{"k\\udfff":"v\\udbff"}}'));
});
