/**
 * JSON from the sender to the receiver. The webhook body is what JavaScript parses and serialises, unless it has numbers that
 * JavaScript cannot hold; those arrive as they were sent.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { parseJson } from '@tailrace/events';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { sign } from '@tailrace/signing';
import { numberText, objectText } from '@tailrace/testing/json-text';
import fc from 'fast-check';
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

const kept = [
  '1234567890123456789',
  '12345678901234567890',
  '-9007199254740993',
  '1'.repeat(300),
  '1e400',
  '-1e400',
  '1e-400',
  '1e1000000000000',
  '0.1234567890123456789',
  '1152921504606846976',
];
const numbers = [
  ...kept,
  '1E5',
  '1e+5',
  '1e20',
  '1e21',
  '5e-324',
  '1.0',
  '-0',
  '-0.0',
  '12.50',
  '0.0000001',
  '42',
  '0.5',
];
const written = numbers.map((text) => (kept.includes(text) ? text : JSON.stringify(Number(text))));

describe('a number', { concurrency: true }, () => {
  test('1.8 arrives without loss, over HTTP, in a batch and from Kafka', async () => {
    const properties = (texts: readonly string[]): string =>
      `{${texts.map((text, index) => `"n${index}":${text}`).join(',')},"list":[${texts.join(',')}]}`;
    const [sent, expected] = [properties(numbers), properties(written)];
    const json = `{"type":"track","userId":"ada","event":"e","context":{"app":${sent}},"properties":${sent}}`;
    for (const [way, body] of await bodiesOf(json)) {
      assert.ok(body.includes(`"context":{"app":${expected}},`), `${way}: ${body}`);
      assert.ok(body.endsWith(`"properties":${expected}}`), `${way}: ${body}`);
    }
  });

  test('in any form that JSON allows arrives so in properties, traits and context', async () => {
    await using receiver = await startReceiver();
    const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
    const sends = Object.values(waysIn(connection));
    const samples = fc.sample(fc.array(numberText, { minLength: 100, maxLength: 100 }), 15);
    for (const [index, texts] of samples.entries()) {
      const object = `{"list":[${texts.join(',')}],"last":${texts.at(-1) ?? ''}}`;
      const fields = `"messageId":"m-${index}","userId":"ada","context":${object},"traits":${object}`;
      await sends[index % sends.length]?.(`{"type":"track","event":"e",${fields},"properties":${object}}`);
      const body = await lastBody(receiver, index + 1);
      const expected = JSON.stringify(parseJson(object));
      assert.ok(body.includes(`"context":${expected},`) && body.endsWith(`"properties":${expected}}`), body);
    }
  });

  test('sent as an id becomes the text of its digits', async () => {
    const json = '{"type":"track","event":7,"userId":1234567890123456789}';
    for (const [way, body] of await bodiesOf(json)) {
      assert.match(body, /"userId":"1234567890123456789",.*"event":"7"/, way);
    }
  });
});

describe('a receiver that parses the body first', { concurrency: true }, () => {
  test('finds the signature over what it serialises, whatever wrote the JSON of the call', async () => {
    const sharedSecret = 's3cret';
    await using receiver = await startReceiver();
    const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }], sharedSecret });
    const sends = Object.values(waysIn(connection));
    const samples = fc.sample(objectText, 150);
    for (const [index, object] of samples.entries()) {
      const fields = `"userId":"user-${index}","context":${object},"properties":${object}`;
      await sends[index % sends.length]?.(`{"type":"track","event":"e",${fields}}`);
    }
    const requests = await receiver.waitFor(samples.length);
    for (const { body, headers } of requests) {
      assert.equal(
        sign(sharedSecret, JSON.stringify(JSON.parse(body.toString()))),
        headers['x-signature'],
        body.toString(),
      );
    }
  });
});

describe('a call answered with 200', { concurrency: true }, () => {
  const list = (count: number): string => Array.from({ length: count }, () => '1e20').join(',');

  test('is delivered, also where its numbers grow to 32 KB when they are written', async () => {
    const json = `{"type":"track","userId":"ada","event":"e","properties":{"list":[${list(1_480)}]}}`;
    const written = list(1_480).replaceAll('1e20', '100000000000000000000');
    for (const [way, body] of await bodiesOf(json)) {
      assert.ok(body.endsWith(`"properties":{"list":[${written}]}}`), way);
    }
  });

  test('is delivered in a batch of 500 KB that grows to 4 MB of events, in which a larger call is rejected', async () => {
    await using receiver = await startReceiver();
    const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
    // The event contains the traits twice.
    const callOf = (nth: number, count: number): string =>
      `{"type":"identify","userId":"user-${nth}","context":{"traits":{"list":[${list(count)}]}}}`;
    const calls = Array.from({ length: 66 }, (_, nth) => callOf(nth, nth === 65 ? 1_500 : 1_480));
    const body = `{"batch":[${calls.join(',')}]}`;
    assert.ok(body.length > 490_000 && body.length < 512_000);
    const headers = { authorization: `Basic ${btoa(`${connection.writeKey}:`)}` };
    const response = await fetch(`${pipeline.ingestUrl}/v1/batch`, { method: 'POST', headers, body });
    const { rejected } = (await response.json()) as { rejected: { index: number; code: string }[] };
    assert.deepEqual(
      [response.status, rejected.map(({ index, code }) => [index, code])],
      [200, [[65, 'call-too-large']]],
    );
    const users = (await receiver.waitFor(65)).map(
      (request) => (request.json() as { userId: string }).userId,
    );
    assert.equal(new Set(users).size, 65);
  });
});
