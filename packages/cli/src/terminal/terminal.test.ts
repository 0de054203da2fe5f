import assert from 'node:assert/strict';
import test from 'node:test';
import { progressOn } from './terminal.ts';

function stage(isTTY: boolean) {
  const written: string[] = [];
  const clock = { now: 0 };
  const stream = {
    isTTY,
    write(text: string) {
      written.push(text);
      return true;
    },
  };
  return { written, clock, progress: progressOn(stream, () => clock.now) };
}

test('on a terminal, progress redraws one line at most every 100 ms and is removed at the end', () => {
  const { written, clock, progress } = stage(true);
  for (clock.now = 0; clock.now < 250; clock.now += 10) progress(`at ${clock.now}`);
  progress('');
  progress('');
  assert.deepEqual(written, ['\r\u001b[Kat 0', '\r\u001b[Kat 100', '\r\u001b[Kat 200', '\r\u001b[K']);
});

test('without a terminal, progress writes a line every ten seconds', () => {
  const { written, clock, progress } = stage(false);
  for (clock.now = 0; clock.now <= 25_000; clock.now += 500) progress(`at ${clock.now}`);
  progress('');
  assert.deepEqual(written, ['at 10000\n', 'at 20000\n']);
});
