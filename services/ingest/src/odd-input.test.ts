/** Invalid input: each kind has a clear error, affects no other call, and is stored where the response is 200. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { headerOf } from '@tailrace/kafka/testing';
import fc from 'fast-check';
import { assertAccepted, assertRefused, call, sendTo, type Answer, type Sent } from './testing/client.ts';
import { openStage, type Stage } from './testing/stage.ts';

describe('input', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage({
      sources: [
        { id: 'web', writeKeys: ['wk_web'], enabled: true },
        { id: 'other', writeKeys: ['wk_other'], enabled: true },
        { id: 'off', writeKeys: ['wk_off'], enabled: false },
      ],
    });
  });
  after(() => stage[Symbol.asyncDispose]());

  const send = (sent: Partial<Sent>): Promise<Answer> =>
    sendTo({ url: stage.url, path: '/v1/track', ...sent });

  /** The JSON of a good track call with `more`, JSON too, behind its fields; and its messageId. */
  function callJson(more: string): { readonly json: string; readonly messageId: string } {
    const messageId = randomUUID();
    return {
      json: `{"type":"track","userId":"ada","event":"e","messageId":"${messageId}",${more}}`,
      messageId,
    };
  }

  /** The value of the event with this messageId. */
  async function storedAs(messageId: string): Promise<string> {
    const record = await stage.events.find(({ value }) => value?.includes(messageId) ?? false);
    return record.value?.toString() ?? '';
  }

  const malformed = {
    'cut off': '{"userId":"ada"',
    'a comma too many': '{"userId":"ada",}',
    'single quotes': "{'userId':'ada'}",
    NaN: '{"userId":"ada","n":NaN}',
    'a leading zero': '{"userId":"ada","n":007}',
    'a line break in a text': '{"userId":"a\nda"}',
    'a comment': '{"userId":"ada"} // ada',
    'two values': '{"userId":"ada"}{"userId":"ben"}',
    'a form': 'userId=ada&event=e',
  };

  test('every kind of malformed JSON is refused', async () => {
    for (const bytes of Object.values(malformed)) {
      assertRefused(await send({ bytes }), 400, 'malformed-json');
      assertRefused(await send({ path: '/v1/batch', bytes: `{"batch":[${bytes}]}` }), 400, 'malformed-json');
    }
  });

  test('bytes that are not UTF-8 are refused, also inside gzip', async () => {
    for (const hex of ['ff', 'c0af', 'eda080', 'e282']) {
      const bytes = Buffer.concat([
        Buffer.from('{"userId":"'),
        Buffer.from(hex, 'hex'),
        Buffer.from('","event":"e"}'),
      ]);
      assertRefused(await send({ bytes }), 400, 'malformed-json');
      const headers = { 'content-encoding': 'gzip' };
      assertRefused(await send({ bytes: gzipSync(bytes), headers }), 400, 'malformed-json');
    }
  });

  test('the error for a field of a wrong type names the field and the expected type', async () => {
    const wrong: Readonly<Record<string, unknown>> = {
      userId: { id: 1 },
      messageId: true,
      event: ['e'],
      properties: 'text',
      traits: [1],
      context: 7,
      integrations: 'All',
      timestamp: 'yesterday',
      originalTimestamp: {},
    };
    for (const [field, value] of Object.entries(wrong)) {
      const answer = await send({ body: call({ [field]: value }) });
      assertRefused(answer, 400, 'invalid-call');
      assert.match(String(answer.json['message']), new RegExp(`^${field} must be`));
    }
  });

  test('keys such as __proto__ are ordinary keys at any depth', async () => {
    for (const more of [
      '"__proto__":{"event":"polluted","polluted":1}',
      '"properties":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
      '"context":{"__proto__":{"traits":{"polluted":1}}}',
    ]) {
      const { json, messageId } = callJson(more);
      const batch = `{"batch":[${json}],"__proto__":{"context":{"polluted":1}},"context":{"__proto__":{"polluted":1}}}`;
      assertAccepted(await send({ path: '/v1/batch', bytes: batch }));
      const stored = JSON.parse(await storedAs(messageId)) as Record<string, unknown>;
      assert.equal(stored['event'], 'e');
      assert.ok(Object.hasOwn(stored['context'] as object, '__proto__'));
      const clean = call({ context: { ip: '203.0.113.7' } });
      assertAccepted(await send({ body: clean }));
      assert.doesNotMatch(await storedAs(clean.messageId), /polluted/);
    }
  });

  test('the last of duplicate keys counts, and is written once', async () => {
    const { json, messageId } = callJson('"event":"last","properties":{"n":1,"n":2}');
    assertAccepted(await send({ bytes: json }));
    const stored = await storedAs(messageId);
    assert.equal(stored.split('"event"').length, 2);
    assert.match(stored, /"event":"last","properties":\{"n":2\}/);
  });

  test('a number is stored without loss, also in a rejected call', async () => {
    const numbers = '{"a":9007199254740993,"b":1e400,"c":-0.30000000000000004,"d":25.0}';
    const stored = numbers.replace('25.0', '25');
    const single = callJson(`"properties":${numbers}`);
    assertAccepted(await send({ bytes: single.json }));
    const [good, bad] = [
      callJson(`"properties":${numbers}`),
      callJson(`"traits":[],"context":1e400,"a":${numbers}`),
    ];
    const { status, json } = await send({ path: '/v1/batch', bytes: `{"batch":[${good.json},${bad.json}]}` });
    assert.deepEqual([status, (json['rejected'] as unknown[]).length], [200, 1]);
    for (const { messageId } of [single, good]) {
      assert.ok((await storedAs(messageId)).includes(`"properties":${stored}`));
    }
    const record = await stage.rejected.find(({ value }) => value?.includes(bad.messageId) ?? false);
    assert.equal(record.value?.toString(), bad.json.replace(numbers, stored));
  });

  test('a call nested thousands of levels deep is refused, and rejected unchanged in a batch', async () => {
    for (const [levels, inner] of [
      [5_000, '0'],
      [15_000, '1e400'],
      [100_000, '{"a":1e400}'],
    ] as const) {
      const [status, code] = levels > 15_000 ? [413, 'call-too-large'] : [400, 'invalid-call'];
      const deep = callJson(`"properties":{"deep":${'['.repeat(levels)}${inner}${']'.repeat(levels)}}`);
      assertRefused(await send({ bytes: deep.json }), status, code);
      const good = callJson('"properties":{"a":1e400}');
      const batch = `{"batch":[${deep.json},${good.json}]}`;
      const answer = await send({ path: '/v1/batch', bytes: batch });
      const named = (answer.json['rejected'] as { code: string }[]).map((call) => call.code);
      assert.deepEqual([answer.status, named], [200, [code]]);
      assert.match(await storedAs(good.messageId), /"properties":\{"a":1e400\}/);
      const record = await stage.rejected.find(({ value }) => value?.includes(deep.messageId) ?? false);
      assert.ok(record.value?.toString() === deep.json, `${levels} levels`);
      assert.deepEqual([record.key?.toString(), headerOf(record, 'error-code')], ['ada', code]);
    }
  });

  test('2.6 2.10 ids that UTF-8 cannot encode, or that are too long, are refused', async () => {
    for (const half of ['m\\ud800', 'm\\udbff']) {
      const answer = await send({ bytes: `{"userId":"ada","event":"e","messageId":"${half}"}` });
      assertRefused(answer, 400, 'invalid-call');
      assert.match(String(answer.json['message']), /^messageId must not contain half a surrogate pair/);
    }
    for (const field of ['userId', 'anonymousId', 'previousId', 'groupId']) {
      for (const [id, rule] of [
        ['u'.repeat(1_025), /must not be longer than 1,024 characters\.$/],
        ['u\\ud800', /must not contain half a surrogate pair/],
      ] as const) {
        const long = callJson(`"${field}":"${id}"`);
        const answer = await send({ bytes: long.json });
        assertRefused(answer, 400, 'invalid-call');
        assert.match(String(answer.json['message']), rule);
        const batch = `{"batch":[${long.json},${callJson('"a":1').json}]}`;
        const { status, json } = await send({ path: '/v1/batch', bytes: batch });
        assert.deepEqual([status, (json['rejected'] as unknown[]).length], [200, 1]);
        // A refused id is not used as a key either.
        const record = await stage.rejected.find(({ value }) => value?.includes(long.messageId) ?? false);
        assert.equal(record.key?.toString(), field === 'userId' ? undefined : 'ada');
      }
    }
    const longest = callJson(`"userId":"${'u'.repeat(1_024)}"`);
    assertAccepted(await send({ bytes: longest.json }));
    await storedAs(longest.messageId);
  });

  test('2.13 numbers that are written longer than they were sent count with all their digits', async () => {
    const numbers = (count: number): string => Array.from({ length: count }, () => '1e20').join(',');
    const digits = '100000000000000000000';
    /** A call that is written with this many bytes. */
    const callOf = (bytes: number) => {
      const [start = '', end = ''] = callJson(`"properties":{"n":[${numbers(1_000)}],"t":"#"}`).json.split(
        '#',
      );
      return `${start}${'x'.repeat(bytes - 1_000 * (digits.length - 4) - start.length - end.length)}${end}`;
    };
    const [largest, larger] = [callOf(32_768), callOf(32_769)];
    assertAccepted(await send({ bytes: largest }));
    assertAccepted(await send({ path: '/v1/batch', bytes: `{"batch":[${largest}]}` }));
    for (const [path, bytes] of [
      ['/v1/track', larger],
      ['/v1/batch', `{"batch":[${larger}]}`],
      [
        `/v1/pixel/track?data=${Buffer.from(callJson(`"properties":{"n":[${numbers(1_600)}]}`).json).toString('base64url')}`,
        undefined,
      ],
    ] as const) {
      const answer = await send({ path, ...(bytes === undefined ? { method: 'GET' } : { bytes }) });
      assertRefused(answer, 413, 'call-too-large');
      assert.match(String(answer.json['message']), /with numbers such as 1e20 written out/);
    }

    // As large as a batch may be, and four times as large when it is written.
    const [good, bad] = [callJson('"a":1'), callJson(`"properties":{"n":[${numbers(102_000)}]}`)];
    const answer = await send({ path: '/v1/batch', bytes: `{"batch":[${good.json},${bad.json}]}` });
    const named = answer.json['rejected'] as { index: number; code: string }[];
    assert.deepEqual(
      [answer.status, named.map(({ index, code }) => [index, code])],
      [200, [[1, 'call-too-large']]],
    );
    await storedAs(good.messageId);
    const record = await stage.rejected.find(({ value }) => value?.includes(bad.messageId) ?? false);
    assert.ok(record.value?.toString() === bad.json.replaceAll('1e20', digits));
  });

  test('2.4 the stored size of an event is checked before the response', async () => {
    const wide = callJson(`"properties":{"t":"${'x'.repeat(31_000)}"}`);
    assertAccepted(await send({ bytes: wide.json }));

    const shared = `"context":{"note":"${'n'.repeat(45_000)}"}`;
    const good = callJson('"a":1');
    const batch = `{"batch":[${wide.json},${good.json}],${shared}}`;
    const { status, json } = await send({ path: '/v1/batch', bytes: batch });
    const named = json['rejected'] as { code: string; message: string }[];
    assert.deepEqual([status, named.map(({ code }) => code)], [200, ['call-too-large']]);
    assert.match(
      named[0]?.message ?? '',
      /^With the context .* of its batch, the call has more than 69632 bytes as stored/,
    );
    await storedAs(good.messageId);
  });

  test('an object with thousands of properties is accepted as it is, and one with ten thousand is too large', async () => {
    const object = (count: number): string =>
      `{${Array.from({ length: count }, (_, index) => `"p${index}":${index}`).join(',')}}`;
    const many = callJson(`"properties":${object(2_500)}`);
    assertAccepted(await send({ bytes: many.json }));
    assert.ok((await storedAs(many.messageId)).includes(object(2_500)));

    const tooMany = callJson(`"properties":${object(10_000)}`);
    assertRefused(await send({ bytes: tooMany.json }), 413, 'call-too-large');
    const batch = `{"batch":[${tooMany.json},${callJson('"a":1').json}]}`;
    const { status, json } = await send({ path: '/v1/batch', bytes: batch });
    assert.deepEqual([status, (json['rejected'] as { code: string }[])[0]?.code], [200, 'call-too-large']);
    await stage.rejected.find(({ value }) => value?.toString() === tooMany.json);
  });

  test('a body that is compressed twice is malformed', async () => {
    const headers = { 'content-encoding': 'gzip' };
    assertRefused(await send({ bytes: gzipSync(gzipSync('{}')), headers }), 400, 'malformed-json');
  });

  test('the source is that of the first write key with an enabled source', async () => {
    const sourceOf = async (messageId: string): Promise<string | undefined> => {
      const record = await stage.events.find(({ value }) => value?.includes(messageId) ?? false);
      return headerOf(record, 'source-id');
    };
    const both = call({ writeKey: 'wk_other' });
    assertAccepted(await send({ body: both, key: 'wk_web' }));
    assert.equal(await sourceOf(both.messageId), 'web');

    const tokenFirst = call({ writeKey: 'wk_other' });
    const headers = { authorization: 'Bearer wk_off' };
    assertAccepted(await send({ body: tokenFirst, key: null, headers }));
    assert.equal(await sourceOf(tokenFirst.messageId), 'other');
    assertRefused(await send({ body: tokenFirst, key: 'wk_off' }), 401, 'unknown-write-key');

    const inside = call({ writeKey: 'wk_other', sourceId: 'other', projectId: 'other' });
    assertAccepted(await send({ path: '/v1/batch', body: { batch: [inside] }, key: 'wk_web' }));
    assert.equal(await sourceOf(inside.messageId), 'web');
    assert.doesNotMatch(await storedAs(inside.messageId), /wk_other/);
  });

  /** A valid call, or one that is invalid in one of many ways. */
  const anyCall = fc.record(
    {
      type: fc.constantFrom<unknown>('track', 'track', 'identify', 'page', 'alias', 'delete', 'Track', 7),
      userId: fc.constantFrom<unknown>('ada', 'ada', 'ben', '', null, 42, {}, 1e300),
      anonymousId: fc.constantFrom<unknown>('a-1', null, []),
      event: fc.constantFrom<unknown>('e', 'e', 'e', '', null, 7.5),
      properties: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), fc.constant('text')),
      timestamp: fc.constantFrom<unknown>('2026-11-21T07:29:33Z', 'soon', null, 12),
    },
    { requiredKeys: ['type', 'userId', 'event'] },
  );

  test('each of many random calls is stored, rejected or refused, and the totals add up', async () => {
    const totals = { accepted: 0, setAside: 0, refused: 0 };
    const ids = { accepted: new Set<string>(), setAside: new Set<string>(), refused: new Set<string>() };
    const sendBatch = async (calls: readonly object[]): Promise<void> => {
      const batch = calls.map((fields) => ({ ...fields, messageId: randomUUID() }));
      const answer = await send({ path: '/v1/batch', body: { batch } });
      const bad = new Set(
        ((answer.json['rejected'] ?? []) as { index: number; message: string }[]).map(
          ({ index, message }) => {
            assert.match(message, /\.$/);
            return index;
          },
        ),
      );
      assert.equal(answer.status, bad.size === batch.length ? 400 : 200, answer.text);
      for (const [index, { messageId }] of batch.entries()) {
        const outcome = !bad.has(index) ? 'accepted' : answer.status === 200 ? 'setAside' : 'refused';
        totals[outcome] += 1;
        ids[outcome].add(messageId);
      }
    };
    const sendSingle = async (fields: object): Promise<void> => {
      const body = { ...fields, messageId: randomUUID() };
      const answer = await send({ body });
      const outcome = answer.status === 200 ? 'accepted' : 'refused';
      if (outcome === 'refused') assertRefused(answer, 400, 'invalid-call');
      totals[outcome] += 1;
      ids[outcome].add(body.messageId);
    };
    for (const topic of [stage.events, stage.rejected]) await topic.refresh();
    const eventsBefore = stage.events.items.length;
    const rejectedBefore = stage.rejected.items.length;
    await fc.assert(
      fc.asyncProperty(fc.array(anyCall, { minLength: 1, maxLength: 12 }), anyCall, async (batch, single) => {
        await sendBatch(batch);
        await sendSingle(single);
      }),
      { numRuns: 150 },
    );
    for (const [outcome, total] of Object.entries(totals)) assert.ok(total > 20, `${outcome}: ${total}`);

    await stage.events.refresh();
    await stage.rejected.refresh();
    const idsOf = (records: readonly { readonly value: Buffer | null }[]): string[] =>
      records.map(({ value }) => (JSON.parse(String(value)) as { messageId: string }).messageId);
    const stored = idsOf(stage.events.items.slice(eventsBefore));
    const aside = idsOf(stage.rejected.items.slice(rejectedBefore));
    assert.deepEqual([stored.length, new Set(stored)], [totals.accepted, ids.accepted]);
    assert.deepEqual([aside.length, new Set(aside)], [totals.setAside, ids.setAside]);
  });
});
