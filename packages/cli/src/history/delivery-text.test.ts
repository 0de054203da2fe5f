import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerFrom, attemptLine, exchangeLines } from './delivery-text.ts';

const url = { url: 'https://crm.example/hook', status: 400, reason: 'client-error', latencyMs: 31 };
const exchange = {
  address: '203.0.113.7:443',
  dnsMs: 2,
  connectMs: 8,
  answerMs: 21,
  requestHeaders: { Authorization: '********' },
  responseHeaders: { 'content-type': 'text/plain' },
  responseBody: 'no\nproperties.total\u001B[2J',
};

test('an exchange has a line for the connection, for each header, and for each line of the body', () => {
  assert.deepEqual(exchangeLines(undefined), []);
  assert.deepEqual(exchangeLines({ ...exchange, omitted: 'rest' }), [
    '    203.0.113.7:443, DNS 2 ms, connection 8 ms, answer 21 ms',
    '    > Authorization: ********',
    '    < content-type: text/plain',
    '    no',
    '    properties.total\\u001b[2J',
    '    (the rest of the body was not kept)',
  ]);
});

test('where an attempt has one line, the body of the response is cut', () => {
  const long = { ...exchange, responseBody: `no:\n  ${'x'.repeat(300)}` };
  const said = `no: ${'x'.repeat(196)}…`;
  assert.equal(
    answerFrom({ ...url, exchange: long }),
    `400 client-error from ${url.url}, which said: ${said}`,
  );
  assert.equal(answerFrom(url), `400 client-error from ${url.url}`);
  const record = {
    deliveryId: 'd',
    eventId: 'e',
    sourceId: 'web',
    destinationId: 'crm',
    type: 'track',
    userKey: 'ada',
    attempt: 1,
    startedAt: '2026-11-21T09:43:25.118Z',
    latencyMs: 31,
    outcome: 'dead' as const,
    urls: [{ ...url, exchange }],
  };
  assert.ok(attemptLine(record).includes('400 client-error no properties.total\\u001b[2J'));
});
