/** Keeps the words of docs/glossary.md in documents, comments, messages and identifiers. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { findingsIn, readReplacements } from './language.ts';

const root = path.join(import.meta.dirname, '..');
/** The glossary itself and this test name the words that they replace. */
const names = /^(docs\/glossary\.md|test\/language(\.test)?\.ts)$/;

test('documents, comments, messages and identifiers use the words of the glossary', () => {
  const replacements = readReplacements();
  assert.ok(replacements.length > 40);
  const files = execFileSync('git', ['ls-files', '*.md', '*.ts', '*.go', '*.sh', '*.yaml'], {
    cwd: root,
    encoding: 'utf8',
  });
  const only = process.env['LANGUAGE_UNDER'] ?? '';
  const found = files
    .trim()
    .split('\n')
    .filter((file) => !names.test(file) && file.startsWith(only))
    .flatMap((file) =>
      findingsIn(file, readFileSync(path.join(root, file), 'utf8'), replacements).map(
        ({ line, found, instead }) => `${file}:${line}: ${found} -> ${instead}`,
      ),
    );
  assert.equal(found.length, 0, `${found.length}:\n${found.join('\n')}`);
});

test('a word is found in prose, in a name, and across a line break of a comment', () => {
  const replacements = readReplacements();
  const ofCode = (text: string) =>
    findingsIn('a.ts', text, replacements).map(({ line, found }) => [line, found]);
  assert.deepEqual(ofCode('const a = 1;\n// It is mended.'), [[2, 'mended']]);
  assert.deepEqual(ofCode('const putOffAt = 1;'), [[1, 'put Off']]);
  assert.deepEqual(ofCode('/**\n * A record is put\n * off.\n */'), [[2, 'put\n   off']]);
  assert.deepEqual(ofCode('const recommended = amendment;'), []);
});

test('a sentence whose subject is a relative clause is found, and a question or a heading is not', () => {
  const replacements = readReplacements();
  const of = (file: string, text: string) =>
    findingsIn(file, text, replacements).map(({ line, found }) => [line, found]);
  assert.deepEqual(of('a.md', 'One.\n\nWhat fails makes 1.\n'), [[3, 'What fails makes 1.']]);
  assert.deepEqual(of('a.ts', '/** Fails. Who asks is told. */').at(-1), [1, 'Who asks is told.']);
  assert.deepEqual(of('a.md', '## What it is for\n\nWhat does it do? It runs.\n'), []);
  assert.deepEqual(of('a.ts', "const a = 'What is it.';"), []);
});
