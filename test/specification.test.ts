/** Each rule of docs/specification.md is shown by a test, whose title begins with its number: "2.2 2.3 a batch may have …". */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const root = path.join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** The numbers at the beginning of the titles of tests and of groups of tests, also of titles in a list. */
function numbersOfTitles(text: string): string[] {
  const titles = /(?:\b(?:test|describe)\(|\.Run\(|^)\s*["'`]((?:\d+\.\d+ )+)(?=[\p{L}\d$'"(])/gmu;
  return [...text.matchAll(titles)].flatMap(([, numbers = '']) => numbers.trim().split(' '));
}

const rules = [...read('docs/specification.md').matchAll(/\*\*(\d+\.\d+)\*\*/g)].map(([, rule = '']) => rule);
const files = globSync(
  ['{packages,services,infra}/*/**/{*.test.ts,*_test.go}', '{docs,test,examples}/**/{*.test.ts,*_test.go}'],
  { cwd: root, exclude: ['**/node_modules/**', 'packages/*/dist/**'] },
);
const found = files.flatMap((file) => numbersOfTitles(read(file)).map((number) => ({ file, number })));

test('every rule of the specification is in the title of a test', () => {
  assert.ok(rules.length > 100 && files.length > 400, `${rules.length} rules, ${files.length} files`);
  const shown = new Set(found.map(({ number }) => number));
  const missing = rules.filter((rule) => !shown.has(rule));
  assert.deepEqual(missing, []);
});

test('every number at the beginning of a title is a rule of the specification', () => {
  const known = new Set(rules);
  const unknown = found.filter(({ number }) => !known.has(number));
  assert.deepEqual(unknown, []);
});

test('numbers are found in titles of every form, and nowhere else', () => {
  const text = [
    "test('1.1 a call', () => {});",
    'test(`2.1 2.10 a ${type} call`, async () => {',
    "describe('3.1 calls', () => {",
    '\tt.Run("4.1 a call", func(t *testing.T) {',
    "test(\n  '5.1 a call that is long',",
    "  ['a title', true],\n  '6.1 a title in a list',",
    "  '1.5',\n  assert.equal(text, '1.6 MB');\n  // 1.7 MB",
    "test('100 calls', () => {});",
  ].join('\n');
  assert.deepEqual(numbersOfTitles(text), ['1.1', '2.1', '2.10', '3.1', '4.1', '5.1', '6.1']);
});
