import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Type from 'typebox';
import { isTailraceError } from '@tailrace/errors';
import { hexKey } from './kinds.ts';
import { readSettings } from './read.ts';

const folder = mkdtempSync(join(tmpdir(), 'tailrace-secrets-'));
after(() => {
  rmSync(folder, { recursive: true });
});
function fileWith(content: string | Buffer): string {
  const file = join(folder, String(Math.random()));
  writeFileSync(file, content);
  return file;
}

const settings = Type.Object({
  password: Type.Optional(Type.String({ env: 'PASSWORD', writeOnly: true })),
  key: Type.Optional(hexKey(2, { env: 'KEY', description: '' })),
});
const read = (env: Record<string, string>) => readSettings(env, settings);

function problemOf(env: Record<string, string>): string {
  try {
    read(env);
  } catch (error) {
    if (isTailraceError(error, 'invalid-settings')) return error.message;
    throw error;
  }
  return '';
}

test('a secret is read from the file that its twin names, without the newline at its end', () => {
  for (const content of ['hunter2', 'hunter2\n', '\ufeffhunter2\r\n']) {
    assert.equal(read({ PASSWORD_FILE: fileWith(content) }).password, 'hunter2');
  }
  assert.deepEqual(read({ KEY_FILE: fileWith('00ff\n') }).key, Buffer.from([0, 255]));
});

test('an empty twin counts as unset', () => {
  assert.equal(read({ PASSWORD: 'a', PASSWORD_FILE: '' }).password, 'a');
  assert.equal(read({ PASSWORD: '', PASSWORD_FILE: fileWith('b') }).password, 'b');
});

test('a secret and its twin together are an error', () => {
  assert.equal(
    problemOf({ PASSWORD: 'hunter2', PASSWORD_FILE: fileWith('hunter2') }),
    'PASSWORD_FILE: set together with PASSWORD. Unset one of them.',
  );
});

test('a file that cannot be used is named, with its variable', () => {
  const empty = fileWith(' \n');
  assert.match(problemOf({ PASSWORD_FILE: empty }), /^PASSWORD_FILE: the file .* is empty/);
  assert.match(
    problemOf({ PASSWORD_FILE: join(folder, 'absent') }),
    /^PASSWORD_FILE: the file \S+absent cannot be read \(ENOENT\)/,
  );
  assert.match(problemOf({ PASSWORD_FILE: folder }), /^PASSWORD_FILE: .* cannot be read \(EISDIR\)/);
});

test('a file without an end is refused', () => {
  assert.match(
    problemOf({ PASSWORD_FILE: '/dev/zero' }),
    /^PASSWORD_FILE: the file \/dev\/zero has more than 64 KB/,
  );
});

test('a pipe is read, also if its writer is late', () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const writer = spawn('sh', ['-c', 'sleep 0.2; printf hunter2 > "$0"', pipe], { stdio: 'ignore' });
  assert.equal(read({ PASSWORD_FILE: pipe }).password, 'hunter2');
  writer.unref();
});

test('a pipe without a writer is refused, and the process does not hang', () => {
  const pipe = join(folder, 'silent');
  execFileSync('mkfifo', [pipe]);
  assert.match(problemOf({ PASSWORD_FILE: pipe }), /^PASSWORD_FILE: .* cannot be read \(ETIMEDOUT\)/);
});

test('a file that is not UTF-8 is refused, because the secret would be another', () => {
  for (const content of [Buffer.from('p\u00e4ss', 'latin1'), Buffer.from('\ufeffpass', 'utf16le')]) {
    assert.match(problemOf({ PASSWORD_FILE: fileWith(content) }), /is not text in UTF-8/);
  }
});

test('an invalid secret in a file is not shown', () => {
  const problem = problemOf({ KEY_FILE: fileWith('hunter2') });
  assert.match(problem, /^KEY: invalid value \(not shown\)/);
  assert.doesNotMatch(problem, /hunter2/);
});

test('a setting that is not secret has no twin', () => {
  const plain = Type.Object({ name: Type.Optional(Type.String({ env: 'NAME' })) });
  assert.equal(readSettings({ NAME_FILE: fileWith('a') }, plain).name, undefined);
});
