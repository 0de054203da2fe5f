import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readCall } from './read-call.ts';
import { userKey, type TailraceEvent } from './schema.ts';
import { webhookBody } from './webhook-body.ts';

const timestamp = '2026-11-21T07:29:33.479Z';
const context = { device: { model: 'Pixel', type: 'mobile' }, os: { name: 'Android', version: '16' } };

function read(call: object): TailraceEvent {
  const options = { receivedAt: Date.parse(timestamp), enriched: true, fallbackMessageId: () => 'm-1' };
  const result = readCall({ timestamp, messageId: 'm-1', ...call }, options);
  assert.ok(result.ok, result.ok ? '' : result.message);
  return result.event;
}

/** Every field that a call may have; a body has those of its type only. */
const everything = {
  previousId: 'p-1',
  groupId: 'g-1',
  event: 'Order Completed',
  traits: { plan: 'pro' },
  integrations: { All: true },
  channel: 'server',
  version: 2,
  sentAt: timestamp,
  context,
};

describe('the body of a webhook, by type (docs/specification.md, rule 6.2)', () => {
  const head = (type: string): string =>
    `"version":1,"type":"${type}","userId":"u-1","timestamp":"${timestamp}"`;
  const contextText = `"context":${JSON.stringify(context)}`;
  const bodies: [type: string, fields: object, body: string][] = [
    ['page', { properties: { url: '/' } }, `{${head('page')},${contextText},"properties":{"url":"/"}}`],
    [
      'screen',
      { name: 'Home', properties: { tab: 1 } },
      `{${head('screen')},${contextText},"name":"Home","properties":{"tab":1,"name":"Home"}}`,
    ],
    ['identify', {}, `{${head('identify')},${contextText},"traits":{"plan":"pro"}}`],
    [
      'track',
      { properties: { total: 12.5 } },
      `{${head('track')},${contextText},"event":"Order Completed","properties":{"total":12.5}}`,
    ],
    ['group', {}, `{${head('group')},${contextText},"groupId":"g-1","traits":{"plan":"pro"}}`],
    [
      'alias',
      {},
      `{"version":1,"type":"alias","Previous ID":"p-1","User ID":"u-1","timestamp":"${timestamp}",${contextText}}`,
    ],
    ['delete', {}, `{"type":"delete","userId":"u-1","timestamp":"${timestamp}"}`],
  ];
  for (const [type, fields, body] of bodies) {
    test(`1.7 6.1 ${type} has the keys of its type, in order, and no others`, () => {
      assert.equal(webhookBody(read({ ...everything, type, userId: 'u-1', ...fields })), body);
    });
  }

  test('the body of a call without context has no context', () => {
    const body = webhookBody(read({ type: 'identify', userId: 'u-1', traits: { plan: 'pro' } }));
    assert.equal(body, `{${head('identify')},"traits":{"plan":"pro"}}`);
  });
});

describe('fields that are converted', () => {
  const bodyOf = (call: object): Record<string, unknown> =>
    JSON.parse(webhookBody(read(call))) as Record<string, unknown>;

  test('a call with only an anonymousId has it in place of userId', () => {
    const body = bodyOf({ type: 'track', anonymousId: 'a-1', event: 'e' });
    assert.deepEqual(Object.keys(body).slice(0, 3), ['version', 'type', 'anonymousId']);
    assert.equal(body['anonymousId'], 'a-1');
  });

  test('a call with both ids has userId only', () => {
    const body = bodyOf({ type: 'track', userId: 'u-1', anonymousId: 'a-1', event: 'e' });
    assert.equal(body['userId'], 'u-1');
    assert.ok(!('anonymousId' in body));
  });

  test('6.7 an alias of an anonymous user has that id under User ID', () => {
    const body = bodyOf({ type: 'alias', anonymousId: 'a-1', previousId: 'p-1' });
    assert.deepEqual(body, { version: 1, type: 'alias', 'Previous ID': 'p-1', 'User ID': 'a-1', timestamp });
  });

  test('6.5 properties and traits are empty objects where the call has none', () => {
    assert.deepEqual(bodyOf({ type: 'track', userId: 'u-1', event: 'e' })['properties'], {});
    assert.deepEqual(bodyOf({ type: 'page', userId: 'u-1' })['properties'], {});
    assert.deepEqual(bodyOf({ type: 'identify', userId: 'u-1' })['traits'], {});
    assert.deepEqual(bodyOf({ type: 'group', userId: 'u-1', groupId: 'g' })['traits'], {});
  });

  test("6.6 a page's name and category replace keys of the same name in its properties", () => {
    const properties = { name: 'old', path: '/' };
    const page = bodyOf({ type: 'page', userId: 'u-1', name: 'Home', category: 'Docs', properties });
    assert.deepEqual(page['properties'], { name: 'Home', path: '/', category: 'Docs' });
    assert.ok(!('name' in page));
    const unnamed = bodyOf({ type: 'page', userId: 'u-1', properties });
    assert.deepEqual(unnamed['properties'], properties);
  });

  test("a screen's name is also a key of the body", () => {
    const body = bodyOf({ type: 'screen', userId: 'u-1', name: 'Home', category: 'Docs' });
    assert.equal(body['name'], 'Home');
    assert.deepEqual(body['properties'], { name: 'Home', category: 'Docs' });
  });

  test('a property called __proto__ stays a property', () => {
    const properties: unknown = JSON.parse('{"__proto__":{"a":1},"b":2}');
    const body = webhookBody(read({ type: 'page', userId: 'u-1', name: 'Home', properties }));
    assert.match(body, /"properties":\{"__proto__":\{"a":1\},"b":2,"name":"Home"\}\}$/);
  });
});

test('16.2 the user key is the userId, else the anonymousId', () => {
  assert.equal(userKey(read({ type: 'page', userId: 'u-1', anonymousId: 'a-1' })), 'u-1');
  assert.equal(userKey(read({ type: 'page', anonymousId: 'a-1' })), 'a-1');
});
