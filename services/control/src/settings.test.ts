import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '@tailrace/service';
import { settings } from './settings.ts';

const read = (token: string) =>
  readSettings({ KAFKA_BROKERS: 'localhost:9092', TAILRACE_API_TOKEN: token }, settings).access.admin;

test('a token that could be guessed is refused', () => {
  for (const token of ['a', 'a'.repeat(15), `${'a'.repeat(16)},short`]) {
    assert.throws(() => read(token), /TAILRACE_API_TOKEN.*at least 16/s, token);
  }
  assert.deepEqual(read(`${'a'.repeat(16)},,${'b'.repeat(16)}`), ['a'.repeat(16), 'b'.repeat(16)]);
});
