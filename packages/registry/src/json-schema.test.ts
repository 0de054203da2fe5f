import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaCompiler } from './json-schema.ts';

const withPattern = (pattern: string): object => ({ type: 'object', properties: { name: { pattern } } });

test('a pattern that takes exponential time elsewhere is checked in linear time', () => {
  const validate = schemaCompiler().compile(withPattern('^(a+)+$'));
  assert.equal(validate({ name: 'a'.repeat(1_000) }), true);
  assert.equal(validate({ name: `${'a'.repeat(1_000)}!` }), false);
});

test('patterns mean what they mean in JavaScript', () => {
  const fits = (pattern: string, name: string): boolean =>
    schemaCompiler().compile(withPattern(pattern))({ name });
  assert.ok(fits('^\\d{4}-\\u0041$', '2026-A'));
  assert.ok(fits('^.{2}$', '\u{1F600}\u{1F600}'), 'characters, not code units');
  assert.ok(fits('b', 'abc') && !fits('^b', 'abc'));
  assert.ok(fits('^(?<year>\\p{Nd}+)[\\w.+-]*$', '2026.a-b'));
});

test('a schema with a pattern that cannot be checked in linear time is refused', () => {
  for (const pattern of ['(?=a)', '(a)\\1']) {
    assert.throws(() => schemaCompiler().compile(withPattern(pattern)), SyntaxError);
  }
});
