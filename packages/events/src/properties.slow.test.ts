/** Properties of every call, checked with generated calls that are partly invalid. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { objectText, stringText } from '@tailrace/testing/json-text';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { producerSchema } from './producer-schema.ts';
import { readBatch, readCall, type ReadOptions } from './read-call.ts';
import { parseJson } from './read-json.ts';
import { eventSchemas, eventTypes, type EventType, type TailraceEvent } from './schema.ts';
import { webhookBody } from './webhook-body.ts';

const options: ReadOptions = {
  receivedAt: Date.parse('2026-11-21T12:00:00.000Z'),
  enriched: true,
  fallbackMessageId: () => 'made-up',
};

const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'binary', minLength: 1 }) },
  { weight: 1, arbitrary: fc.constantFrom(null, '', 0, 42, 1.5, 1e300, true, []) },
);
const object = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(fc.string(), fc.jsonValue()) },
  { weight: 1, arbitrary: fc.constantFrom(null, [], [1], 'text', 7, { traits: { plan: 'pro' } }) },
);
const date = fc.date({
  min: new Date('0000-01-01T00:00:00.000Z'),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
});
const instant = fc.oneof(
  { weight: 6, arbitrary: date.map((d) => d.toISOString()) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(null, '', 'now', '2026-11-21T07:27:36+0000', 1763710173479, 12, {}),
  },
);

/** A call with any of the fields, valid or invalid. */
const anyCall = fc
  .record(
    {
      type: fc.constantFrom<unknown>(...eventTypes, ...eventTypes, ...eventTypes, 'Track', null),
      messageId: text,
      userId: text,
      anonymousId: text,
      previousId: text,
      groupId: text,
      event: text,
      name: text,
      category: text,
      channel: text,
      version: fc.jsonValue(),
      properties: object,
      traits: object,
      context: object,
      integrations: object,
      timestamp: instant,
      originalTimestamp: instant,
      sentAt: instant,
      receivedAt: instant,
      writeKey: text,
      _metadata: object,
    },
    { requiredKeys: ['type', 'userId'] },
  )
  // A value from JSON.parse: no undefined, no -0.
  .map((call) => JSON.parse(JSON.stringify(call)) as Record<string, unknown>);

const ajv = new Ajv({ allErrors: true });
const validators = new Map(eventTypes.map((type) => [type, ajv.compile(eventSchemas[type])]));

function isValid(event: { readonly type?: unknown }): boolean {
  return validators.get(event.type as EventType)?.(event) ?? false;
}

/** Runs `check` on the event of every call that is accepted. */
function forEveryEvent(check: (event: TailraceEvent) => void): void {
  let accepted = 0;
  fc.assert(
    fc.property(anyCall, (call) => {
      const result = readCall(call, options);
      if (!result.ok) return;
      accepted++;
      check(result.event);
    }),
    { numRuns: 600 },
  );
  assert.ok(accepted > 100, `only ${accepted} calls were accepted: the property says too little`);
}

describe('every call', () => {
  test('is read without an exception', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (input, enriched) => {
        assert.equal(typeof readCall(input, { ...options, enriched }).ok, 'boolean');
      }),
    );
  });

  test('that is refused has a message of sentences', () => {
    fc.assert(
      fc.property(anyCall, (call) => {
        const result = readCall(call, options);
        if (!result.ok) assert.match(result.message, /^[A-Za-z].*\.$/);
      }),
    );
  });
});

describe('every event', () => {
  test('matches the schema of its type', () => {
    forEveryEvent((event) => {
      assert.ok(isValid(event), JSON.stringify(event));
    });
  });

  test('is read unchanged, also after a conversion to JSON and at a later time', () => {
    forEveryEvent((event) => {
      const again: unknown = JSON.parse(JSON.stringify(event));
      const result = readCall(again, { ...options, receivedAt: options.receivedAt + 86_400_000 });
      assert.deepEqual(result, { ok: true, event });
    });
  });

  test('is refused without a field that its schema requires, and accepted without any other', () => {
    forEveryEvent((event) => {
      for (const field of Object.keys(event)) {
        if (filledIn.has(field)) continue;
        const rest: unknown = { ...event, [field]: undefined };
        const shortened = JSON.parse(JSON.stringify(rest)) as object;
        assert.equal(readCall(shortened, options).ok, isValid(shortened), `without ${field}`);
      }
    });
  });

  test('has times in UTC with milliseconds', () => {
    forEveryEvent(({ timestamp, receivedAt }) => {
      for (const time of [timestamp, receivedAt]) {
        assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      }
    });
  });

  test('6.2 has a body with exactly the keys that its type specifies', () => {
    forEveryEvent((event) => {
      const body = JSON.parse(webhookBody(event)) as object;
      const expected = [...specifiedKeys[event.type]];
      if (event.type !== 'alias') expected.push(event.userId === undefined ? 'anonymousId' : 'userId');
      if (event.type !== 'delete' && event.context) expected.push('context');
      if (event.type === 'screen' && event.name !== undefined) expected.push('name');
      assert.deepEqual(Object.keys(body).sort(), expected.sort());
    });
  });
});

describe('the body of a call in any JSON', () => {
  const sent = fc.record({
    type: fc.constantFrom('track', 'identify', 'page', 'screen', 'group', 'alias'),
    text: stringText.filter((text) => text !== '""'),
    object: objectText,
    batchContext: objectText,
  });

  test('1.9 8.2 holds the values that JavaScript reads from the call, and JavaScript serialises it unchanged', () => {
    fc.assert(
      fc.property(sent, ({ type, text, object, batchContext }) => {
        const texts = `"userId":"ada","groupId":"g","previousId":"p","event":${text},"name":${text}`;
        const call = `{${texts},"properties":${object},"traits":${object},"context":${object}}`;
        const batch = readBatch({ context: parseJson(batchContext) });
        assert.ok(batch.ok);
        const { receivedAt, fallbackMessageId } = options;
        const accepted = readCall(parseJson(call), { ...batch.fields, type, receivedAt, fallbackMessageId });
        assert.ok(accepted.ok, accepted.ok ? '' : accepted.message);
        // The router reads what ingest has stored.
        const stored = Buffer.from(JSON.stringify(accepted.event));
        const routed = readCall(parseJson(stored.toString()), options);
        assert.ok(routed.ok);
        const body = Buffer.from(webhookBody(routed.event)).toString();
        const parsed = JSON.parse(body) as Record<string, unknown>;
        assert.equal(JSON.stringify(parsed), body);

        const [own, shared] = [JSON.parse(object) as object, JSON.parse(batchContext) as object];
        const named = type === 'page' || type === 'screen' ? { name: JSON.parse(text) as string } : {};
        assert.equal(
          JSON.stringify([parsed['context'], parsed['traits'] ?? parsed['properties']]),
          JSON.stringify([{ ...shared, ...own }, type === 'alias' ? undefined : { ...own, ...named }]),
        );
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Fields that the router fills in. */
const filledIn = new Set(['messageId', 'timestamp', 'receivedAt']);

const specifiedKeys: Readonly<Record<EventType, readonly string[]>> = {
  page: ['version', 'type', 'timestamp', 'properties'],
  screen: ['version', 'type', 'timestamp', 'properties'],
  identify: ['version', 'type', 'timestamp', 'traits'],
  track: ['version', 'type', 'timestamp', 'event', 'properties'],
  alias: ['version', 'type', 'timestamp', 'Previous ID', 'User ID'],
  group: ['version', 'type', 'timestamp', 'groupId', 'traits'],
  delete: ['type', 'timestamp'],
};

describe('the schema that is registered for producers', () => {
  const fits = new Ajv({ strict: false }).compile(producerSchema());

  test('accepts every event in the topic', () => {
    forEveryEvent((event) => {
      assert.ok(fits(event), JSON.stringify([event, fits.errors]));
    });
  });

  test('requires no field that is filled in, and accepts no call that is refused', () => {
    let fitting = 0;
    const timeless = anyCall.map((call) =>
      Object.fromEntries(Object.entries(call).filter(([field]) => !/(timestamp|At)$/i.test(field))),
    );
    // Of calls with many fields, hardly one in a hundred has nothing invalid.
    const short = anyCall.map(({ type, userId, event = 'e' }) => ({ type, userId, event }));
    fc.assert(
      fc.property(fc.oneof(timeless, short), (call) => {
        if (!fits(call)) return;
        fitting++;
        const result = readCall(call, options);
        assert.ok(result.ok, JSON.stringify([call, result]));
      }),
      { numRuns: 800 },
    );
    assert.ok(fitting > 100);
    assert.ok(fits({ type: 'track', event: 'e', userId: 'u' }));
    assert.ok(!fits({ type: 'track', userId: 'u' }));
  });
});
