import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { openLogFile } from './log-file.ts';
import { identify, isAlive } from './broker/lock.ts';
import { supervise, type Supervised } from './supervise.ts';
import type { Terminal } from './terminal.ts';

const readyLine = `console.log(JSON.stringify({ level: 'info', time: 'now', pid: process.pid, msg: 'ready' }));`;
const stopsLikeAService = `
  process.on('SIGTERM', () => process.exit(0));
  process.on('disconnect', () => process.exit(0));
  setInterval(() => undefined, 60_000);`;

interface Bench extends AsyncDisposable {
  readonly service: Supervised;
  /** The output so far, one line each. */
  readonly said: readonly string[];
  readonly logPath: string;
  /** Resolves when a line matches `pattern`. */
  until(pattern: RegExp): Promise<void>;
}

async function run(script: string): Promise<Bench> {
  const dir = await mkdtemp(join(tmpdir(), 'tailrace-supervise-'));
  await writeFile(join(dir, 'main.mjs'), script);
  const said: string[] = [];
  const terminal: Terminal = {
    say: (name, text) => void said.push(`${name} ${text}`),
    progress: () => undefined,
    print: (text) => void said.push(text),
  };
  const logPath = join(dir, 'service.log');
  const service = supervise(
    { name: 'router', command: [process.execPath, join(dir, 'main.mjs')], env: process.env },
    { terminal, logFile: openLogFile(logPath) },
  );
  return {
    service,
    said,
    logPath,
    async until(pattern) {
      await eventually(() => said.some((text) => pattern.test(text)));
    },
    async [Symbol.asyncDispose]() {
      await service.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function pidIn(logPath: string): Promise<number> {
  const [line = ''] = (await readFile(logPath, 'utf8')).trimEnd().split('\n').slice(-1);
  return (JSON.parse(line) as { pid: number }).pid;
}

test('a killed service is reported with its last log lines, and restarted', async () => {
  await using bench = await run(stopsLikeAService + readyLine);
  await bench.service.ready;
  const pid = bench.service.pid ?? 0;
  process.kill(pid, 'SIGKILL');
  await bench.until(/router ended by SIGKILL, restarting in 0\.5 s/);
  await bench.until(/its last log lines[^]*info: ready/);
  await bench.until(/router is ready again/);
  assert.notEqual(bench.service.pid, pid);
});

test('a service that refuses its settings is not restarted', async () => {
  await using bench = await run(
    `console.error('TAILRACE_INGEST_PORT: invalid value "x"'); process.exit(78);`,
  );
  await assert.rejects(bench.service.ready, {
    code: 'local-start-failed',
    message: 'router could not start: ended with exit code 78.',
  });
  assert.deepEqual(bench.said, ['router TAILRACE_INGEST_PORT: invalid value "x"']);
});

test('a service that dies three times before it was ready is not restarted', async () => {
  await using bench = await run('process.exit(1);');
  await assert.rejects(bench.service.ready, /could not start: ended with exit code 1/);
  assert.equal(bench.said.filter((line) => line.includes('restarting in')).length, 2);
});

test('warnings and plain output are shown, everything is in the log file', async () => {
  await using bench = await run(
    `console.log(JSON.stringify({ level: 'debug', time: 'now', msg: 'a detail' }));
     console.log(JSON.stringify({ level: 'warn', time: 'now', msg: 'slow' }));
     console.log('plain');` +
      stopsLikeAService +
      readyLine,
  );
  await bench.service.ready;
  assert.deepEqual(bench.said, ['router warn: slow', 'router plain']);
  assert.match(await readFile(bench.logPath, 'utf8'), /a detail[^]*slow[^]*plain[^]*ready/);
});

test('a stopped service ends by itself', async () => {
  await using bench = await run(
    `process.on('SIGTERM', () => { console.log('goodbye'); process.exit(0); });
     setInterval(() => undefined, 60_000);
     ${readyLine}`,
  );
  await bench.service.ready;
  await bench.service.stop();
  assert.deepEqual(bench.said, ['router goodbye']);
});

test('a service does not outlive a supervisor that was killed', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'tailrace-supervise-'));
  await writeFile(join(dir, 'main.mjs'), stopsLikeAService + readyLine);
  const supervisor = `
    import { openLogFile } from ${JSON.stringify(join(import.meta.dirname, 'log-file.ts'))};
    import { supervise } from ${JSON.stringify(join(import.meta.dirname, 'supervise.ts'))};
    const terminal = { say() {}, progress() {}, print() {} };
    const logFile = openLogFile(${JSON.stringify(join(dir, 'service.log'))});
    const command = [process.execPath, ${JSON.stringify(join(dir, 'main.mjs'))}];
    await supervise({ name: 'router', command, env: process.env }, { terminal, logFile }).ready;
    console.log('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', supervisor], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(createInterface({ input: child.stdout }), 'line');
  const service = await identify(await pidIn(join(dir, 'service.log')));
  child.kill('SIGKILL');
  await eventually(async () => !(await isAlive(service)));
  await rm(dir, { recursive: true, force: true });
});
