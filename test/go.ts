/**
 * Checks and tests the Go client library, where Go is installed; says so where it is not. It needs no network. The race
 * detector needs cgo and a C compiler; without them the tests run without it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { run } from '@tailrace/tools';
import { find, goEnvironment } from './support/clients.ts';

const library = path.join(import.meta.dirname, '../packages/analytics-go');
const env = { ...goEnvironment, GOPROXY: 'off' };

const say = (line: string): void => {
  process.stderr.write(`Go client library: ${line}\n`);
};

/** Why the race detector cannot run here; undefined where it can. */
async function whyNoRaceDetector(): Promise<string | undefined> {
  const stdout = await run('go', ['env', 'CGO_ENABLED', 'CC'], { env });
  const [enabled, compiler = ''] = stdout.split('\n');
  if (enabled !== '1') return 'cgo is switched off';
  const [command = ''] = compiler.split(' ');
  return path.isAbsolute(command) || find(command) ? undefined : `there is no C compiler, ${command}`;
}

/** The exit code of `go`, which writes to this terminal. */
async function go(...args: string[]): Promise<number> {
  const child = spawn('go', args, { cwd: library, env: { ...process.env, ...env }, stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
}

if (find('go') === undefined) {
  say('NOT tested, because Go is not installed. It needs Go 1.21 or later.');
} else {
  const obstacle = await whyNoRaceDetector();
  if (obstacle !== undefined) say(`tested without the race detector: ${obstacle}`);
  const unformatted = find('gofmt') === undefined ? '' : await run('gofmt', ['-l', library]);
  if (unformatted !== '') say(`not as gofmt writes it:\n${unformatted}`);
  const race = obstacle === undefined ? ['-race'] : [];
  const code = (await go('vet', './...')) || (await go('test', ...race, './...'));
  process.exitCode = unformatted === '' ? code : 1;
}
