import assert from 'node:assert/strict';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { commands } from './commands.ts';
import { runCli } from './run.ts';

async function tailrace(argv: string[], env: Record<string, string> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const exitCode = await runCli({
    argv,
    env,
    out: (line) => out.push(...line.split('\n')),
    err: (line) => err.push(...line.split('\n')),
  });
  return { exitCode, out, err };
}

test('help goes to standard output, and every command has one', async () => {
  const { exitCode, out, err } = await tailrace(['--help']);
  assert.equal(exitCode, 0);
  assert.deepEqual(err, []);
  for (const { name, examples } of commands) {
    assert.ok(out.some((line) => line.startsWith(`  ${name} `)));
    const help = await tailrace([...name.split(' '), '--help']);
    assert.equal(help.exitCode, 0);
    assert.ok(help.out.some((line) => line.startsWith(`Usage: tailrace ${name} `)));
    assert.ok(examples.length > 0 && examples.every((example) => help.out.includes(`  tailrace ${example}`)));
  }
});

test('a wrong command line is exit code 2, with a message on standard error', async () => {
  const { exitCode, out, err } = await tailrace(['topics', 'aply']);
  assert.equal(exitCode, 2);
  assert.deepEqual(out, []);
  assert.match(err[0] ?? '', /^tailrace: there is no command topics aply; is topics apply meant\?$/);
});

test('a replay has to be told which dead letters, before Kafka is asked', async () => {
  const nothing = await tailrace(['dead', 'replay']);
  assert.equal(nothing.exitCode, 2);
  assert.match(nothing.err.join('\n'), /say which, .*--all.*\nSee tailrace dead replay --help\.$/);
  const both = await tailrace(['dead', 'replay', '--all', '--type', 'track']);
  assert.equal(both.exitCode, 2);
  assert.match(both.err[0] ?? '', /--all does not go with/);
});

test('wrong settings are exit code 2, all told together', async () => {
  const { exitCode, err } = await tailrace(['topics', 'apply'], {
    TAILRACE_PARTITIONS: 'many',
    TAILRACE_RETRY_SCHEDULE: 'soon',
  });
  assert.equal(exitCode, 2);
  for (const variable of ['KAFKA_BROKERS', 'TAILRACE_PARTITIONS', 'TAILRACE_RETRY_SCHEDULE']) {
    assert.ok(
      err.some((line) => line.trim().startsWith(`${variable}: `)),
      `${variable} is named in:\n${err.join('\n')}`,
    );
  }
});

test('a broken configuration is exit code 1, with the place of every problem, before Kafka is asked', async () => {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), 'tailrace-cli-'));
  const file = path.join(folder.path, 'tailrace.yaml');
  writeFileSync(file, 'sources:\n  - id: web\n    writeKey: [wk]\n  - id: a b\n    writeKeys: [wk]\n');
  const { exitCode, out, err } = await tailrace(['apply', '-f', file]);
  assert.equal(exitCode, 1);
  assert.deepEqual(out, []);
  assert.deepEqual(err.slice(1), [
    `  ${file}:2:5 sources[0].writeKeys: is missing; it is a list of 1 to 20 write keys`,
    `  ${file}:3:5 sources[0].writeKey: nothing has this name here; is writeKeys meant?`,
    `  ${file}:4:9 sources[1].id: is not 1 to 64 letters, digits, dashes and underscores`,
  ]);
});

test('a file that cannot be read is exit code 1, and is named', async () => {
  const { exitCode, err } = await tailrace(['apply', '-f', '/nonexistent/tailrace.yaml']);
  assert.equal(exitCode, 1);
  assert.match(err.join('\n'), /\/nonexistent\/tailrace\.yaml: ENOENT/);
});
