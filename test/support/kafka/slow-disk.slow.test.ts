import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notRun } from '../not-run.ts';
import { run } from '../tools/command.ts';
import { openSlowDisk } from './slow-disk.ts';

const delayMs = 300;

/** Prints for how long each call lasted. */
const program = `
  import { fdatasyncSync, fsyncSync, openSync } from 'node:fs';
  const file = openSync(process.env.SLOW_FSYNC, 'r');
  for (const write of [fsyncSync, fdatasyncSync]) {
    const before = performance.now();
    write(file);
    console.log(performance.now() - before);
  }
`;

test('a slow disk delays each call', async (t) => {
  await using disk = await openSlowDisk();
  if (!disk) {
    notRun(t, 'there is no C compiler');
    return;
  }
  await disk.delay(delayMs);
  const out = await run(process.execPath, ['--input-type=module', '--eval', program], { env: disk.env });
  const waits = out.trim().split('\n').map(Number);
  assert.ok(waits.length === 2 && Math.min(...waits) >= delayMs, out);
});
