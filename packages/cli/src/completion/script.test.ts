import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { buildProgram } from '../program.ts';
import { completionScript } from './script.ts';

const program = buildProgram(() => () => Promise.resolve());

/** The candidates of bash for the last word of a line, in a folder with one file. */
function offered(...words: string[]): string[] {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), 'tailrace-completion-'));
  writeFileSync(path.join(folder.path, 'tailrace.yaml'), '');
  const line = ['tailrace', ...words].map((word) => `'${word}'`).join(' ');
  const script = `
${completionScript(program, 'bash')}
function=$(complete -p tailrace | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
COMP_WORDS=(${line})
COMP_CWORD=${words.length}
$function
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const shell = ['--noprofile', '--norc', '-u', '-c', script];
  return execFileSync('bash', shell, { cwd: folder.path, encoding: 'utf8' }).split('\n').filter(Boolean);
}

test('bash completes commands word by word', () => {
  const first = offered('');
  assert.ok(['topics', 'apply', 'dead', 'get', 'audience', 'doctor'].every((word) => first.includes(word)));
  assert.equal(new Set(first).size, first.length);
  assert.deepEqual(offered('to'), ['topics']);
  assert.deepEqual(offered('topics', ''), ['apply', 'list']);
  assert.deepEqual(offered('dead', 're'), ['replay']);
});

test('bash completes options, their values and the names of files', () => {
  assert.deepEqual(offered('topics', 'apply', '--s'), ['--strict']);
  assert.deepEqual(offered('dead', 'list', '--output', ''), ['text', 'json', 'yaml']);
  assert.deepEqual(offered('dead', 'list', '--type', 'i'), ['identify']);
  assert.deepEqual(offered('dead', 'list', '--destination', ''), []);
  assert.deepEqual(offered('apply', '-f', ''), ['tailrace.yaml']);
  assert.deepEqual(offered('apply', '--file', 'tail'), ['tailrace.yaml']);
  assert.deepEqual(offered('completion', ''), ['bash', 'zsh', '--output', '--verbose', '--help']);
});

test('bash completes options after an argument', () => {
  assert.deepEqual(offered('dead', 'show', 'd-1', '--r'), ['--raw']);
});
