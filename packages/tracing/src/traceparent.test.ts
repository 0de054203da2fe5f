import assert from 'node:assert/strict';
import test from 'node:test';
import { formatTraceparent, readTraceparent, traceFields, validTraceparent } from './traceparent.ts';

const traceId = 'a1'.repeat(16);
const spanId = 'b2'.repeat(8);
const header = `00-${traceId}-${spanId}-01`;

test('a valid header is read, with the flag of the caller', () => {
  assert.deepEqual(readTraceparent(header), { traceId, spanId, sampled: true });
  assert.deepEqual(readTraceparent(`00-${traceId}-${spanId}-00`), { traceId, spanId, sampled: false });
  assert.equal(readTraceparent(`00-${traceId}-${spanId}-03`)?.sampled, true);
});

test('a header that was read is written as it was', () => {
  const parent = readTraceparent(header);
  assert.ok(parent);
  assert.equal(formatTraceparent(parent), header);
});

test('of a later version the known fields are read, and passed on as version 00', () => {
  assert.equal(validTraceparent(`cc-${traceId}-${spanId}-01`), header);
  assert.equal(validTraceparent(`cc-${traceId}-${spanId}-01-what-comes-next`), header);
});

test('an invalid header is no parent', () => {
  const invalid = [
    '',
    'junk',
    header.toUpperCase(),
    ` ${header}`,
    `${header}\n`,
    `${header}, ${header}`,
    `${header}-more`,
    `ff-${traceId}-${spanId}-01`,
    `0-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-1`,
    `00-${traceId}-${spanId}-xx`,
    `cc-${traceId}-${spanId}-01.more`,
    `cc-${traceId}-${spanId}-01-${'a'.repeat(10_000)}`,
    `00-${traceId}-${spanId}-01\r\nX-Injected: yes`,
  ];
  for (const text of invalid) assert.equal(readTraceparent(text), undefined, text.slice(0, 80));
  assert.equal(readTraceparent(undefined), undefined);
});

test('a log line has the ids that are known', () => {
  assert.deepEqual(traceFields({ traceId, spanId }), { trace_id: traceId, span_id: spanId });
  assert.deepEqual(traceFields({ traceId }), { trace_id: traceId });
  assert.deepEqual(traceFields(undefined), {});
});
