import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { maxEventBytes } from '@tailrace/events';
import { noRegistry } from '@tailrace/registry';
import fc from 'fast-check';
import { readRecord } from './read-record.ts';

const call = { type: 'page', userId: 'u-1' };
const value = Buffer.from(JSON.stringify(call));

function headers(texts: Record<string, string>): Record<string, Buffer> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]));
}

function rejectionOf(value: Buffer | null): string {
  const reading = readRecord({ value, headers: headers({ 'source-id': 'web' }) }, noRegistry);
  assert.ok(reading.outcome === 'rejected');
  return `${reading.code}: ${reading.message}`;
}

describe('the source of a record', () => {
  const withField = Buffer.from(JSON.stringify({ ...call, writeKey: 'wk_field' }));
  const sources: [
    title: string,
    headers: Record<string, string>,
    value: Buffer,
    by: string,
    value: string,
  ][] = [
    ['is in the header source-id', { 'source-id': 'web' }, value, 'id', 'web'],
    ['is in the header write-key', { 'write-key': 'wk_1' }, value, 'write-key', 'wk_1'],
    ['is in the field writeKey', {}, withField, 'write-key', 'wk_field'],
    [
      'is the id where there is a write key too',
      { 'write-key': 'wk_1', 'source-id': 'web' },
      value,
      'id',
      'web',
    ],
    ['is the header where there is a field too', { 'write-key': 'wk_1' }, withField, 'write-key', 'wk_1'],
  ];
  for (const [title, texts, bytes, by, expected] of sources) {
    test(title, () => {
      const reading = readRecord({ value: bytes, headers: headers(texts) }, noRegistry);
      assert.deepEqual(reading.outcome === 'read' && reading.source, { by, value: expected });
    });
  }

  test('is required: a record that names none is rejected', () => {
    for (const bytes of [value, Buffer.from('{"writeKey":""}'), Buffer.from('null'), Buffer.from('[]')]) {
      const reading = readRecord({ value: bytes, headers: {} }, noRegistry);
      assert.ok(reading.outcome === 'rejected');
      assert.equal(reading.code, 'unknown-source');
    }
  });
});

describe('a value that is not a call', () => {
  test('is rejected with the reason', () => {
    assert.match(rejectionOf(null), /^malformed-json: The record has no value/);
    assert.match(rejectionOf(Buffer.alloc(0)), /^malformed-json: The value is not JSON/);
    assert.match(rejectionOf(Buffer.from('{"type":')), /^malformed-json: The value is not JSON/);
    assert.match(
      rejectionOf(Buffer.from([0x22, 0xff, 0x22])),
      /^malformed-json: The value is not JSON in UTF-8/,
    );
    assert.match(
      rejectionOf(Buffer.from([0, 0, 0, 0, 7, 2])),
      /^unsupported-encoding: .*Confluent wire format/,
    );
    assert.match(
      rejectionOf(Buffer.alloc(maxEventBytes + 1, ' ')),
      /^call-too-large: The call has 69633 bytes; 69632 are allowed/,
    );
  });

  test('is too large where its numbers grow beyond the limit when they are written', () => {
    const list = (count: number): string => `[${Array.from({ length: count }, () => '1e20').join(',')}]`;
    const digits = '100000000000000000000,';
    const most = Math.floor((maxEventBytes - 1) / digits.length);
    const { outcome } = readRecord(
      { value: Buffer.from(list(most)), headers: { 'source-id': Buffer.from('web') } },
      noRegistry,
    );
    assert.equal(outcome, 'read');
    assert.match(
      rejectionOf(Buffer.from(list(most + 1))),
      /^call-too-large: The call has 69653 bytes as JSON, with numbers such as 1e20 written out; 69632 are allowed/,
    );
  });

  test('never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const reading = readRecord({ value: Buffer.from(bytes), headers: {} }, noRegistry);
        assert.match(reading.outcome, /^(read|rejected)$/);
      }),
    );
  });
});
