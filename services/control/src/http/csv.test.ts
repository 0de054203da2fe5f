import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { csvLine, unguarded } from './csv.ts';

test('a text is quoted, a number is not, and what is missing is empty', () => {
  assert.equal(csvLine(['a', 7, true, undefined, null, '']), '"a",7,true,,,""\r\n');
  assert.equal(csvLine(['say "hi", and\nleave']), '"say ""hi"", and\nleave"\r\n');
});

test('no text is a formula in a spreadsheet', () => {
  const cases: [text: string, shown: string][] = [
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['＝1', "'＝1"],
    ['\t=1', "'\t'=1"],
    ['a;=1', "a;'=1"],
    ['a\n=1', "a\n'=1"],
    ["'=1", "''=1"],
    ["'a", "'a"],
    ['a=1', 'a=1'],
    ['2026-11-22', '2026-11-22'],
  ];
  for (const [text, shown] of cases) {
    assert.equal(csvLine([text]), `"${shown}"\r\n`);
    assert.equal(unguarded(shown), text);
  }
});

test('the text of a cell is found again, whatever it is', () => {
  const text = fc.string({
    unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '\n', ';', '＝', 'a'),
  });
  fc.assert(
    fc.property(text, (text) => {
      assert.equal(unguarded(csvLine([text]).slice(1, -3)), text);
    }),
  );
});
