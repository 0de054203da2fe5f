/** Direct producers in Confluent wire format, with a real registry that keeps its schemas in the same Kafka. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import type { ConsumedRecord } from '@tailrace/kafka';
import { probesUrlOf } from '@tailrace/service/testing';
import { topicNames, type TopicNames } from '@tailrace/topology';
import kafkajs from 'kafkajs';
import { sharedBroker } from '../support/kafka/broker.ts';
import { tailrace } from '../support/processes/cli.ts';
import { eventually } from '@tailrace/testing';
import { frame, startRealRegistry, type RealRegistry } from '../support/kafka/registry.ts';
import { startWatchedRouter } from '../support/processes/router.ts';
import { headerOf, type WatchedTopic } from '../support/kafka/topics.ts';

const avroSchema = {
  type: 'record',
  name: 'Call',
  namespace: 'shop',
  fields: [
    { name: 'type', type: { type: 'enum', name: 'Kind', symbols: ['track', 'page'] } },
    { name: 'userId', type: ['null', 'string'], default: null },
    { name: 'messageId', type: 'string' },
    { name: 'event', type: ['null', 'string'], default: null },
    { name: 'timestamp', type: { type: 'long', logicalType: 'timestamp-micros' } },
    {
      name: 'properties',
      type: {
        type: 'record',
        name: 'Properties',
        fields: [
          { name: 'total', type: 'long' },
          { name: 'image', type: 'bytes' },
          { name: 'tags', type: { type: 'array', items: 'string' } },
          { name: 'either', type: ['int', 'double'] },
        ],
      },
    },
  ],
};

const protobufSchema = `
  syntax = "proto3";
  package shop;
  import "google/protobuf/struct.proto";
  message Order { int64 number = 1; }
  message Call {
    string type = 1;
    string user_id = 2;
    string message_id = 3;
    string event = 4;
    google.protobuf.Struct properties = 5;
  }
`;

const jsonSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  required: ['type', 'userId'],
  properties: {
    type: { const: 'track' },
    userId: { type: 'string' },
    properties: { type: 'object', properties: { number: { type: 'number' } } },
  },
};

let brokers: readonly string[];
let names: TopicNames;
let producer: kafkajs.Producer;
let registry: RealRegistry;
let client: SchemaRegistry;
let probesUrl: string;
let deliveries: WatchedTopic;
let rejected: WatchedTopic;
const opened = new AsyncDisposableStack();

before(async () => {
  ({ brokers } = await sharedBroker());
  registry = opened.use(await startRealRegistry(brokers));
  client = new SchemaRegistry({ host: registry.adminUrl });
  const router = await startWatchedRouter(1, {
    SCHEMA_REGISTRY_URL: registry.url,
  });
  ({ names, deliveries, rejected } = opened.use(router));
  probesUrl = probesUrlOf(router.service);
  producer = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING }).producer();
  await producer.connect();
  opened.defer(() => producer.disconnect());
});
after(() => opened.disposeAsync());

async function write(key: string, value: Buffer | string | null): Promise<void> {
  await producer.send({
    topic: names.events,
    messages: [{ key, value, headers: { 'write-key': 'wk_web' } }],
  });
}

const plainCall = (userId: string): string => JSON.stringify({ type: 'track', event: 'plain', userId });

/** Resolves with the webhook body of the user's call. */
async function bodyOf(userId: string): Promise<string> {
  const delivery = await deliveries.find(({ key }) => key?.toString() === `crm/${userId}`);
  return delivery.value?.toString() ?? '';
}

const rejectionOf = (key: string): Promise<ConsumedRecord> =>
  rejected.find((record) => record.key?.toString() === key);

async function registerAvro(subject: string): Promise<number> {
  const schema = { type: SchemaType.AVRO as const, schema: JSON.stringify(avroSchema) };
  return (await client.register(schema, { subject })).id;
}

const avroCall = (userId: string) => ({
  type: 'track',
  userId,
  messageId: `avro-${userId}`,
  event: 'Order Completed',
  timestamp: Date.UTC(2026, 10, 21, 7, 29, 33, 479) * 1_000,
  properties: { total: 12, image: Buffer.from([1, 2, 3]), tags: ['a', 'b'], either: { double: 0.5 } },
});

describe('16.4 a call in wire format', () => {
  test('of JSON Schema arrives without loss of digits', async () => {
    const { id } = await client.register(
      { type: SchemaType.JSON, schema: JSON.stringify(jsonSchema) },
      { subject: 'json-call' },
    );
    const text = (userId: string, number: string): Buffer =>
      Buffer.from(`{"type":"track","event":"e","userId":"${userId}","properties":{"number":${number}}}`);
    for (const [index, [number, written = number]] of (
      [['9007199254740991'], ['12345678901234567890'], ['25.0', '25'], ['1e400']] as const
    ).entries()) {
      await write(`json-${index}`, frame(id, text(`json-${index}`, number)));
      const body = await bodyOf(`json-${index}`);
      assert.ok(body.endsWith(`"event":"e","properties":{"number":${written}}}`), body);
    }
  });

  test('of Avro arrives with times, bytes and unions converted to JSON', async () => {
    const id = await registerAvro('avro-call');
    await write('avro-1', await client.encode(id, avroCall('avro-1')));
    assert.deepEqual(JSON.parse(await bodyOf('avro-1')), {
      version: 1,
      type: 'track',
      userId: 'avro-1',
      timestamp: '2026-11-21T07:29:33.479Z',
      event: 'Order Completed',
      properties: { total: 12, image: 'AQID', tags: ['a', 'b'], either: 0.5 },
    });
  });

  test('of Protobuf arrives, also where it is not the first message of its schema', async () => {
    const { id } = await client.register(
      { type: SchemaType.PROTOBUF, schema: protobufSchema },
      { subject: 'protobuf-call' },
    );
    // Encoded field by field, like in another language. Call is the second message, with index 1.
    const text = (field: number, value: string): Buffer =>
      Buffer.concat([Buffer.from([(field << 3) | 2, value.length]), Buffer.from(value)]);
    const value = Buffer.from('11000000000000e03f', 'hex');
    const entry = Buffer.concat([text(1, 'share'), Buffer.from([0x12, value.length]), value]);
    const struct = Buffer.concat([Buffer.from([0x0a, entry.length]), entry]);
    const payload = Buffer.concat([
      Buffer.from([2, 2]),
      text(1, 'track'),
      text(2, 'proto-1'),
      text(3, 'm-proto-1'),
      text(4, 'Order Completed'),
      Buffer.from([0x2a, struct.length]),
      struct,
    ]);
    await write('proto-1', frame(id, payload));
    const body = JSON.parse(await bodyOf('proto-1')) as Record<string, unknown>;
    assert.equal(body['event'], 'Order Completed');
    assert.deepEqual(body['properties'], { share: 0.5 });
  });
});

/** A text in the encoding of Avro, and of Protobuf. */
const avroText = (text: string): Buffer => Buffer.concat([Buffer.from([text.length * 2]), Buffer.from(text)]);
const protobufText = (field: number, text: string): Buffer =>
  Buffer.concat([Buffer.from([(field << 3) | 2, text.length]), Buffer.from(text)]);

describe('a whole number of 64 bits', () => {
  test('keeps its digits in Avro', async () => {
    const text = (name: string) => ({ name, type: 'string' });
    const properties = {
      type: 'record',
      name: 'Numbers',
      fields: ['a', 'b'].map((name) => ({ name, type: 'long' })),
    };
    const fields = [...['type', 'userId', 'event'].map(text), { name: 'properties', type: properties }];
    const schema = JSON.stringify({ type: 'record', name: 'Call', namespace: 'numbers', fields });
    const { id } = await client.register({ type: SchemaType.AVRO, schema }, { subject: 'avro-numbers' });
    const numbers = Buffer.from('feffffffffffffffff01ffffffffffffffffff01', 'hex');
    const texts = ['track', 'avro-64', 'e'].map(avroText);
    await write('avro-64', frame(id, Buffer.concat([...texts, numbers])));
    assert.match(
      await bodyOf('avro-64'),
      /"properties":\{"a":9223372036854775807,"b":-9223372036854775808\}\}$/,
    );
  });

  test('keeps its digits in Protobuf', async () => {
    const schema = `
      syntax = "proto3";
      package numbers;
      message Numbers { int64 a = 1; uint64 b = 2; }
      message Call { string type = 1; string user_id = 2; string event = 3; Numbers properties = 4; }
    `;
    const { id } = await client.register(
      { type: SchemaType.PROTOBUF, schema },
      { subject: 'protobuf-numbers' },
    );
    // The lowest of int64, and the highest of uint64.
    const numbers = Buffer.from('0880808080808080808001' + '10ffffffffffffffffff01', 'hex');
    const payload = Buffer.concat([
      Buffer.from([2, 2]),
      ...['track', 'proto-64', 'e'].map((text, index) => protobufText(index + 1, text)),
      Buffer.from([0x22, numbers.length]),
      numbers,
    ]);
    await write('proto-64', frame(id, payload));
    assert.match(
      await bodyOf('proto-64'),
      /"properties":\{"a":-9223372036854775808,"b":18446744073709551615\}\}$/,
    );
  });
});

describe('a frame that cannot be read', () => {
  test('is rejected unchanged, and later frames are not delayed', async () => {
    const id = await registerAvro('avro-call');
    const good = await client.encode(id, avroCall('behind'));
    const { id: stringId } = await client.register(
      {
        type: SchemaType.AVRO,
        schema: JSON.stringify({
          type: 'record',
          name: 'Other',
          namespace: 'shop',
          fields: [{ name: 'a', type: 'long' }],
        }),
      },
      { subject: 'other' },
    );
    const frames: [key: string, value: Buffer, code: string, message: RegExp][] = [
      ['unknown-id', frame(123_456, Buffer.from('x')), 'unknown-schema', /no schema with the id 123456/],
      ['no-id', Buffer.from([0, 0, 1]), 'schema-mismatch', /ends before its schema id/],
      ['truncated', good.subarray(0, -3), 'schema-mismatch', /ends too early/],
      ['trailing', Buffer.concat([good, Buffer.from([0])]), 'schema-mismatch', /1 bytes are left over/],
      ['other-schema', frame(stringId, Buffer.from([2])), 'invalid-call', /type must be one of/],
      // An array that declares 2^40 items.
      [
        'bomb',
        Buffer.concat([good.subarray(0, -13), Buffer.from([0x80, 0x80, 0x80, 0x80, 0x80, 0x40])]),
        'schema-mismatch',
        /./,
      ],
    ];
    await producer.send({
      topic: names.events,
      messages: [...frames, ['behind', good] as const].map(([key, value]) => ({
        key,
        value,
        headers: { 'write-key': 'wk_web' },
      })),
    });
    await bodyOf('behind');
    for (const [key, value, code, message] of frames) {
      const record = await rejectionOf(key);
      assert.deepEqual(record.value, value);
      assert.equal(headerOf(record, 'error-code'), code, key);
      assert.match(headerOf(record, 'error-message') ?? '', message);
      assert.equal(headerOf(record, 'origin-topic'), names.events);
    }
  });
});

test('an unavailable registry delays only the records that need it, loses none, and is reported by the router', async () => {
  const known = await registerAvro('avro-call');
  await write('before', await client.encode(known, avroCall('before')));
  await bodyOf('before');
  const { id: fresh } = await client.register(
    { type: SchemaType.JSON, schema: JSON.stringify({ ...jsonSchema, title: 'fresh' }) },
    { subject: 'fresh' },
  );
  const registryOk = async (): Promise<string | undefined> => {
    const metrics = await (await fetch(`${probesUrl}/metrics`)).text();
    return /^tailrace_check_ok\{check="schema-registry"\} (\d)$/m.exec(metrics)?.[1];
  };
  await eventually(registryOk, (ok) => ok === '1');

  registry.shut();
  const call = { type: 'track', event: 'first', userId: 'waiting' };
  for (let number = 0; number < 50; number++) {
    const value = Buffer.from(JSON.stringify({ ...call, userId: `waiting-${number}` }));
    await write(`waiting-${number}`, frame(fresh, value));
  }
  await write('waiting-0', plainCall('waiting-0'));
  await write('plain', plainCall('plain'));
  await write('cached', await client.encode(known, avroCall('cached')));
  await bodyOf('plain');
  await bodyOf('cached');
  await eventually(registryOk, (ok) => ok === '0');
  assert.ok(!deliveries.items.some(({ key }) => key?.toString().startsWith('crm/waiting-')));

  registry.open();
  await bodyOf('waiting-49');
  await eventually(registryOk, (ok) => ok === '1');
  await deliveries.waitFor(
    (records) => records.filter(({ key }) => key?.toString().startsWith('crm/waiting-')).length === 51,
  );
  const events = deliveries.items
    .filter(({ key }) => key?.toString() === 'crm/waiting-0')
    .map(({ value }) => (JSON.parse(value?.toString() ?? '') as { event: string }).event);
  assert.deepEqual(events, ['first', 'plain'], "a user's calls stay in order");
});

test('topics apply registers the schema of events once, and calls with that schema arrive', async () => {
  const env = {
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: names.events.replace(/events$/, ''),
    TAILRACE_PARTITIONS: '1',
    TAILRACE_RETRY_SCHEDULE: '1s',
    SCHEMA_REGISTRY_URL: registry.adminUrl,
  };
  const subject = `${topicNames(env.TAILRACE_TOPIC_PREFIX).events}-value`;
  for (const outcome of ['registered', 'exists']) {
    const run = await tailrace(['topics', 'apply', '--output', 'json'], env);
    assert.equal(run.exitCode, 0, run.stderr);
    const { schema } = JSON.parse(run.stdout) as { schema: { outcome: string; subject: string } };
    assert.deepEqual([schema.outcome, schema.subject], [outcome, subject]);
  }
  const config = await fetch(`${registry.adminUrl}/config/${subject}`);
  assert.equal(((await config.json()) as { compatibilityLevel: string }).compatibilityLevel, 'BACKWARD');

  const id = await client.getLatestSchemaId(subject);
  await write('by-subject', await client.encode(id, { type: 'track', event: 'e', userId: 'by-subject' }));
  await bodyOf('by-subject');
  await assert.rejects(client.encode(id, { type: 'track', userId: 'by-subject' }), /invalid payload/);
});
