import { test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { notRun } from '../not-run.ts';
import { openClock } from './clock.ts';
import { startProcess } from './process.ts';

const program = `
  process.on('SIGTERM', () => process.exit(0));
  const show = () => console.log(JSON.stringify({ msg: 'ready', shown: Date.now() }));
  setInterval(show, 20);
  show();
`;

test('the clock of a process drifts, jumps, and is right again', async (t) => {
  await using clock = await openClock();
  if (!clock) {
    notRun(t, 'libfaketime is a package of Debian');
    return;
  }
  const command = [process.execPath, '--input-type=module', '--eval', program] as const;
  await using child = await startProcess({ name: 'clock', command, env: clock.env });
  /** By how much the clock is ahead, or behind where negative. */
  const aheadMs = async (): Promise<number> => {
    const { log } = child;
    const before = Date.now();
    const lines = await log.waitFor(log.items.length + 2);
    const shown = Number(lines.at(-1)?.['shown']);
    return shown < before ? shown - before : Math.max(0, shown - Date.now());
  };
  await eventually(aheadMs, (ms) => ms === 0);
  await clock.drift(10, child.pid ?? 0);
  await eventually(aheadMs, (ms) => ms > 2_000);
  await clock.set(-1);
  await eventually(aheadMs, (ms) => ms < -3_500_000);
  await clock.set(0);
  await eventually(aheadMs, (ms) => ms === 0);
});
