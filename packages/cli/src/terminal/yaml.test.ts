import assert from 'node:assert/strict';
import test from 'node:test';
import { parseJson } from '@tailrace/events';
import { parse } from 'yaml';
import { yamlLines } from './yaml.ts';

test('text that could command a terminal is escaped, and read as it was', () => {
  const value = {
    'key\u001b[2J': 'bell\u0007',
    c1: 'a\u009b31m\nb',
    tab: 'a\tb\nc',
    lines: 'a\nb\n',
    quote: '"\\u001b',
  };
  const text = yamlLines(value).join('\n');
  assert.doesNotMatch(text, /[^\P{Cc}\n]/u);
  assert.deepEqual(parse(text), value);
});

test('numbers keep their digits', () => {
  const lines = yamlLines(parseJson('{"id":1234567890123456789,"price":25.5,"count":3,"list":[1e400]}'));
  assert.deepEqual(lines, ['id: 1234567890123456789', 'price: 25.5', 'count: 3', 'list:', '  - 1e400']);
});
