import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import test from 'node:test';
import type { Destination } from '@tailrace/config';
import { parseJson, readCall, webhookBody, type TailraceEvent } from '@tailrace/events';
import { bodyFor, deliveriesOf } from './index.ts';

const crm: Destination = {
  id: 'crm',
  type: 'Webhooks',
  enabled: true,
  sources: ['web'],
  settings: { webhooks: [{ url: 'https://crm.example/hook' }] },
};

const call = `{
  "type": "track", "userId": "u-1", "event": "Order Completed", "timestamp": "2026-11-21T09:43:25.118Z",
  "context": { "ip": "192.0.2.1", "device": { "id": "d-1", "type": "ios" }, "page": { "url": "/a", "ref": null } },
  "properties": { "total": 25.5, "email": "ada@example.com", "a.b": 1, "big": 9223372036854775807, "__proto__": "x",
    "products": [{ "sku": "a", "price": 1 }, { "sku": "b", "price": 2 }, "c"] }
}`;

function eventOf(text = call): TailraceEvent {
  const reading = readCall(parseJson(text), {
    receivedAt: 0,
    enriched: true,
    fallbackMessageId: () => 'm-1',
  });
  assert.ok(reading.ok, reading.ok ? '' : reading.message);
  return reading.event;
}

type Body = Readonly<Record<'context' | 'properties' | 'traits', Record<string, unknown>>>;

function bodyWith(fields: NonNullable<Destination['fields']>, event = eventOf()): Body {
  return JSON.parse(bodyFor(event, { ...crm, fields })) as Body;
}

test('without fields the body is that of the event, byte for byte', () => {
  assert.equal(bodyFor(eventOf(), crm), webhookBody(eventOf()));
});

test('6.9 excluded fields are missing, and nothing else changes', () => {
  const event = eventOf();
  const before = webhookBody(event);
  const exclude = [
    'context.ip',
    'context.*.id',
    'properties.email',
    'properties.products.*.price',
    'properties.a\\.b',
  ];
  const text = bodyFor(event, { ...crm, fields: { exclude } });
  assert.equal(
    text,
    before
      .replace('"ip":"192.0.2.1",', '')
      .replace('"id":"d-1",', '')
      .replace('"email":"ada@example.com",', '')
      .replace('"a.b":1,', '')
      .replaceAll(/,"price":[12]/g, ''),
  );
  assert.ok(text.includes('"big":9223372036854775807,"__proto__":"x"'));
  assert.equal(webhookBody(event), before);
});

test('6.9 of a body with included fields these are left, who did what and when, and properties or traits', () => {
  const include = ['properties.total', 'context.device', 'properties.products.*.sku'];
  assert.equal(
    bodyFor(eventOf(), { ...crm, fields: { include } }),
    '{"version":1,"type":"track","userId":"u-1","timestamp":"2026-11-21T09:43:25.118Z",' +
      '"context":{"device":{"id":"d-1","type":"ios"}},"event":"Order Completed",' +
      '"properties":{"total":25.5,"products":[{"sku":"a"},{"sku":"b"}]}}',
  );
  assert.deepEqual(bodyWith({ include: ['context.ip'] }).properties, {});
  assert.deepEqual(bodyWith({ exclude: ['properties', 'context'] }).properties, {});
  assert.equal(bodyWith({ exclude: ['properties', 'context'] }).context, undefined);
  const alias = eventOf(
    '{"type":"alias","userId":"new","previousId":"old","timestamp":"2026-11-21T09:43:25.118Z"}',
  );
  assert.equal(bodyFor(alias, { ...crm, fields: { include } }), webhookBody(alias));
});

test('6.9 hashed values are the SHA-256 of salt and value, so that they join, and null stays', () => {
  const paths = ['properties.email', 'properties.total', 'context.page.*', 'properties.big'];
  const { properties, context } = bodyWith({ hash: paths });
  assert.equal(properties['email'], hash('sha256', 'crmada@example.com'));
  assert.equal(properties['total'], hash('sha256', 'crm25.5'));
  assert.equal(properties['big'], hash('sha256', 'crm9223372036854775807'));
  assert.deepEqual(context['page'], { url: hash('sha256', 'crm/a'), ref: null });
  const salted = bodyWith({ hash: ['properties.email'], salt: '' });
  assert.equal(salted.properties['email'], hash('sha256', 'ada@example.com'));
});

test('6.9 a field that the event lacks has no hash', () => {
  const event = eventOf('{"type":"screen","userId":"u-1","timestamp":"2026-11-21T09:43:25.118Z"}');
  assert.equal(
    bodyFor(event, { ...crm, fields: { hash: ['name', 'context', 'properties.total'] } }),
    webhookBody(event),
  );
});

test('6.9 renamed fields have another key, with their hash, and replace one that has it', () => {
  const rename = { 'properties.email': 'mail', 'properties.total': 'a.b', 'properties.products.*.sku': 'id' };
  const { properties } = bodyWith({ hash: ['properties.email'], rename });
  assert.equal(properties['mail'], hash('sha256', 'crmada@example.com'));
  assert.equal('email' in properties, false);
  assert.equal(properties['a.b'], 25.5);
  assert.deepEqual(properties['products'], [{ price: 1, id: 'a' }, { price: 2, id: 'b' }, 'c']);
});

test('6.9 paths are those of the whole body: a list keeps its positions, and keys below renamed ones are found', () => {
  const kept = bodyWith({ include: ['properties.products.1'], hash: ['properties.products.1.sku'] });
  const second = { sku: hash('sha256', 'crmb'), price: 2 };
  assert.deepEqual(kept.properties, { products: [second] });
  const left = bodyWith({ exclude: ['properties.products.0'], hash: ['properties.products.1.sku'] });
  assert.deepEqual(left.properties['products'], [second, 'c']);
  const rename = { 'context.device': 'phone', 'context.device.id': 'key', 'context.*.type': 'kind' };
  assert.deepEqual(bodyWith({ include: ['context.device'], rename }).context, {
    phone: { key: 'd-1', kind: 'ios' },
  });
});

test('6.9 of a list or mapping what is left of it is hashed, once, under the keys that it had', () => {
  const fields = {
    exclude: ['context.device.type'],
    hash: ['context.device', 'context.device.id'],
    rename: { 'context.device.id': 'key' },
  };
  assert.equal(bodyWith(fields).context['device'], hash('sha256', 'crm{"id":"d-1"}'));
});

test('destinations that get the same share one body', () => {
  const other: Destination = { ...crm, id: 'erp' };
  const variants: Partial<Destination>[] = [
    {},
    { settings: { ...crm.settings, contentType: 'form' } },
    { fields: { exclude: ['context'] } },
    { fields: { hash: ['properties.email'], salt: 'pepper' } },
  ];
  const own: Partial<Destination> = { fields: { hash: ['properties.email'] } };
  const origin = {
    sourceId: 'web',
    position: { partition: 0, offset: 0 },
    contentHash: '',
    acceptedAt: 0,
    traceparent: undefined,
  };
  const bodiesFor = (variant: Partial<Destination>): (Buffer | null)[] =>
    deliveriesOf(
      eventOf(),
      origin,
      [crm, other].map((one) => ({ ...one, ...variant })),
    ).map(({ body }) => body);
  const shared = variants.map((variant) => {
    const [first, second] = bodiesFor(variant);
    assert.equal(first, second);
    return String(first);
  });
  assert.equal(new Set(shared).size, variants.length);
  assert.match(shared[1] ?? '', /^payload=/);
  assert.notDeepEqual(...(bodiesFor(own) as [Buffer, Buffer]));
});
