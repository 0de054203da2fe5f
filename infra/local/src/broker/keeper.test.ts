import assert from 'node:assert/strict';
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

const script = join(import.meta.dirname, '../..', 'kafka', 'keeper.sh');

function keep(directory: string, command: string): ChildProcessWithoutNullStreams {
  return spawn('sh', [script, directory, 'sh', '-c', command]);
}

async function firstLine({ stdout }: ChildProcessWithoutNullStreams): Promise<string> {
  const [line] = (await once(createInterface({ input: stdout }), 'line')) as [string];
  return line;
}

test('the keeper returns the exit code of the command', async () => {
  assert.deepEqual(await once(keep('', 'exit 7'), 'exit'), [7, null]);
});

test('a line on standard input sends the named signal to the command', async () => {
  const keeper = keep('', 'trap "exit 3" TERM; echo ready; while :; do sleep 0.05; done');
  await firstLine(keeper);
  keeper.stdin.write('TERM\n');
  assert.deepEqual(await once(keeper, 'exit'), [3, null]);
});

test('the end of standard input ends the command, and removes the given directory', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tailrace-keeper-'));
  await writeFile(join(directory, 'data'), '');
  const keeper = keep(directory, 'echo ready; exec sleep 60');
  await firstLine(keeper);
  keeper.stdin.end();
  await once(keeper, 'exit');
  assert.equal(existsSync(directory), false);
});

test('the end of the command alone keeps the directory', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tailrace-keeper-'));
  await once(keep(directory, 'exit 0'), 'exit');
  assert.equal(existsSync(directory), true);
  await rm(directory, { recursive: true });
});
