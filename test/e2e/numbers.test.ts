/** Numbers from the sender to the receiver: the webhook body holds each as the text that was sent. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { startPipeline, type Connection } from '../support/processes/pipeline.ts';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';

const pipeline = await startPipeline({ cluster: new MemoryCluster() });
const publisher = pipeline.kafka.publisher();
after(async () => {
  await publisher.close();
  await pipeline[Symbol.asyncDispose]();
});

/** Sends `json`, one call, unchanged; resolves when it is accepted. */
type Send = (json: string) => Promise<void>;

/** The three ways to send an event, for one source. */
function waysIn({ writeKey, sourceId }: Connection): Readonly<Record<string, Send>> {
  const post = async (route: string, body: string): Promise<void> => {
    const headers = { authorization: `Basic ${btoa(`${writeKey}:`)}` };
    const response = await fetch(`${pipeline.ingestUrl}/v1/${route}`, { method: 'POST', headers, body });
    assert.deepEqual([response.status, await response.text()], [200, '{"success":true}']);
  };
  return {
    'a call over HTTP': (json) => post('track', json),
    'a batch': (json) => post('batch', `{"batch":[${json}]}`),
    'a Kafka producer': (json) =>
      publisher.publish({
        topic: pipeline.names.events,
        key: 'ada',
        value: json,
        headers: { 'source-id': sourceId },
      }),
  };
}

/** Sends the call in every way; resolves with the bodies that arrive. */
async function bodiesOf(json: string): Promise<readonly (readonly [way: string, body: string])[]> {
  await using receiver = await startReceiver();
  const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  const bodies: [string, string][] = [];
  for (const [way, send] of Object.entries(waysIn(connection))) {
    await send(json);
    bodies.push([way, await lastBody(receiver, bodies.length + 1)]);
  }
  return bodies;
}

async function lastBody(receiver: Receiver, count: number): Promise<string> {
  return (await receiver.waitFor(count)).at(-1)?.body.toString() ?? '';
}

/** Every text that the grammar of JSON calls a number, up to some length. */
const numberText = fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,25})?([eE][+-]?\d{1,4})?$/);

const numbers = [
  ...['1234567890123456789', '12345678901234567890', '-9007199254740993', '1'.repeat(300)],
  ...['1e400', '-1e400', '1e-400', '1E5', '1e+5', '1e20', '1e1000000000000'],
  ...['0.1234567890123456789', '1.0', '-0', '-0.0', '12.50', '0.0000001', '42', '0.5'],
];

describe('a number', { concurrency: true }, () => {
  test('arrives with the digits it was sent with, over HTTP, in a batch and from Kafka', async () => {
    const properties = `{${numbers.map((text, index) => `"n${index}":${text}`).join(',')},"list":[${numbers.join(',')}]}`;
    const json = `{"type":"track","userId":"ada","event":"e","context":{"app":${properties}},"properties":${properties}}`;
    for (const [way, body] of await bodiesOf(json)) {
      assert.ok(body.includes(`"context":{"app":${properties}},`), `${way}: ${body}`);
      assert.ok(body.endsWith(`"properties":${properties}}`), `${way}: ${body}`);
    }
  });

  test('in any form that JSON allows arrives as the same text, in properties, traits and context', async () => {
    await using receiver = await startReceiver();
    const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
    const sends = Object.values(waysIn(connection));
    const samples = fc.sample(fc.array(numberText, { minLength: 100, maxLength: 100 }), 15);
    for (const [index, texts] of samples.entries()) {
      const object = `{"list":[${texts.join(',')}],"last":${texts.at(-1) ?? ''}}`;
      const fields = `"messageId":"m-${index}","userId":"ada","context":${object},"traits":${object}`;
      await sends[index % sends.length]?.(`{"type":"track","event":"e",${fields},"properties":${object}}`);
      const body = await lastBody(receiver, index + 1);
      assert.ok(body.includes(`"context":${object},`) && body.endsWith(`"properties":${object}}`), body);
    }
  });

  test('sent as an id becomes the text of its digits', async () => {
    const json = '{"type":"track","event":7,"userId":1234567890123456789}';
    for (const [way, body] of await bodiesOf(json)) {
      assert.match(body, /"userId":"1234567890123456789",.*"event":"7"/, way);
    }
  });
});

describe('a call answered with 200', { concurrency: true }, () => {
  test('is delivered, also 32 KB of numbers that grow when they are rewritten', async () => {
    const count = Math.floor((32 * 1024 - 100) / '1e20,'.length);
    const list = Array.from({ length: count }, () => '1e20').join(',');
    const json = `{"type":"track","userId":"ada","event":"e","properties":{"list":[${list}]}}`;
    for (const [way, body] of await bodiesOf(json)) {
      assert.ok(body.endsWith(`"properties":{"list":[${list}]}}`), way);
    }
  });
});
