import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import { Output } from './output.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'tailrace-output-'));
const file = path.join(folder, 'log');
const fd = openSync(file, 'w');
after(() => {
  closeSync(fd);
  rmSync(folder, { recursive: true });
});

test('lines are written when there are 4 KB of them, or after 100 ms', async () => {
  using time = simulateTime();
  const written = (): number => readFileSync(file, 'utf8').length;
  const output = new Output(fd);
  output.write('ä'.repeat(4_095));
  assert.equal(written(), 0);
  output.write('\n');
  assert.equal(written(), 4_096);
  output.write('last\n');
  await time.pass(100);
  assert.equal(written(), 4_101);
});

test('lines that cannot be written are dropped', () => {
  const readOnly = openSync(file, 'r');
  const output = new Output(readOnly);
  for (let nth = 0; nth < 3; nth += 1) output.write(`${'x'.repeat(5_000)}\n`);
  output.flush();
  closeSync(readOnly);
});
