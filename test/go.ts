/**
 * Checks and tests the Go client library, where Go is installed. It needs no network. The race detector needs cgo and a C
 * compiler; without them the tests run without it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { run } from './support/tools/command.ts';
import { countsVariable, type Counts } from './runner/reporter.ts';
import { find, goEnvironment } from './support/clients.ts';
import { notRunVariable } from './support/not-run.ts';

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

/** A line of `go test -json`. */
interface Line {
  readonly Action: string;
  readonly Package?: string;
  readonly Test?: string;
  readonly Output?: string;
}

/** Runs the tests; the output of a package that fails is printed. */
async function test(flags: readonly string[]): Promise<Counts & { readonly code: number }> {
  const child = spawn('go', ['test', '-json', ...flags, './...'], {
    cwd: library,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const outputs = new Map<string, string>();
  for await (const text of createInterface(child.stdout)) {
    if (!text.startsWith('{')) {
      say(text);
      continue;
    }
    const { Action, Package = '', Test, Output = '' } = JSON.parse(text) as Line;
    if (Action === 'output' || Action === 'build-output')
      outputs.set(Package, (outputs.get(Package) ?? '') + Output);
    else if (Test === undefined && (Action === 'fail' || Action === 'build-fail'))
      say(outputs.get(Package) ?? '');
    else if (Test !== undefined && Action === 'pass') counts.passed += 1;
    else if (Test !== undefined && Action === 'fail') counts.failed += 1;
    else if (Test !== undefined && Action === 'skip') counts.skipped += 1;
  }
  const [code] = await closed;
  return { ...counts, failedFiles: [], code: code ?? 1 };
}

async function main(): Promise<number> {
  const notRunFile = process.env[notRunVariable];
  if (find('go') === undefined) {
    say('NOT tested, because Go is not installed. It needs Go 1.21 or later.');
    if (notRunFile !== undefined) appendFileSync(notRunFile, 'Go: it is not installed\n');
    return 0;
  }
  const obstacle = await whyNoRaceDetector();
  if (obstacle !== undefined) say(`tested without the race detector: ${obstacle}`);
  const unformatted = find('gofmt') === undefined ? '' : await run('gofmt', ['-l', library]);
  if (unformatted !== '') say(`not as gofmt writes it:\n${unformatted}`);
  await run('go', ['vet', './...'], { cwd: library, env });
  const { code, ...counts } = await test(obstacle === undefined ? ['-race'] : []);
  const countsFile = process.env[countsVariable];
  if (countsFile !== undefined) writeFileSync(countsFile, JSON.stringify(counts));
  return unformatted === '' ? code : 1;
}

process.exitCode = await main();
