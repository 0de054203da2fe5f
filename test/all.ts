/**
 * `npm test`: the checks, the Go client library, the tests that need Kafka, the infrastructure, and last the tests of
 * faults. The tools for the infrastructure are fetched at the lowest priority while the other tests run. The tests of
 * the launcher (infra/local) wait for processes half of their time, and run beside those of the infrastructure. They
 * depend on little else: where they have passed on the same files in this checkout, they are left out, and the last
 * line says so. A fresh checkout runs everything.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import path from 'node:path';
import { cacheFolder } from './support/caches.ts';
import { collectingNotRun, partsNotRun } from './support/not-run.ts';

const root = path.join(import.meta.dirname, '..');
const stamp = path.join(cacheFolder, 'launcher-passed');

/** Changes when a file changes that the launcher's tests depend on. */
function launcherVersion(): string {
  const files = globSync(
    ['infra/local/**/*', 'test/launcher/*', 'package-lock.json', 'services/*/src/{main,settings}.ts'],
    {
      cwd: root,
      exclude: ['**/node_modules/**'],
      withFileTypes: true,
    },
  );
  const hash = createHash('sha256');
  for (const file of files
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort()) {
    hash.update(`${file}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

function launcherPassed(): boolean {
  try {
    return readFileSync(stamp, 'utf8') === launcherVersion();
  } catch {
    return false;
  }
}

const folder = mkdtempSync(path.join(tmpdir(), 'tailrace-tests-'));
const notRunFile = path.join(folder, 'not-run');

async function run(script: string, ...args: string[]): Promise<boolean> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, script), ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...collectingNotRun(notRunFile) },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

/** A tool that cannot be built is reported by the tests that need it. */
function buildTools(): ChildProcess {
  const child = spawn(process.execPath, ['infra/tools/src/main.ts'], { cwd: root, stdio: 'ignore' });
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  return child;
}

async function checkInfrastructure(tools: ChildProcess): Promise<boolean> {
  if (tools.exitCode === null && tools.signalCode === null) await once(tools, 'exit');
  return run('infra.ts', 'check');
}

/** Whether all of the parts passed, which run at the same time. */
async function all(...parts: readonly Promise<boolean>[]): Promise<boolean> {
  return !(await Promise.all(parts)).includes(false);
}

const tools = buildTools();
const withoutLauncher = launcherPassed();
const filesOf = (folder: string): string => `test/${folder}/**/*.test.ts`;
const version = launcherVersion();
// The tests of the Go client library wait most of their time.
const passed =
  (await all(run('check.ts'), run('go.ts'))) &&
  (await run('run.ts', '--test-concurrency=5', ...['e2e', 'integration', 'infra/quick'].map(filesOf))) &&
  (await all(
    checkInfrastructure(tools),
    withoutLauncher ? Promise.resolve(true) : run('run.ts', '--test-concurrency=3', filesOf('launcher')),
  )) &&
  // Each of these loads the machine by itself.
  (await run('run.ts', '--test-concurrency=3', filesOf('faults')));
if (passed && !withoutLauncher) {
  mkdirSync(cacheFolder, { recursive: true });
  writeFileSync(stamp, version);
}
if (withoutLauncher) {
  process.stderr.write(
    'Not run: the tests of the launcher, unchanged since they passed here (npm run test:launcher).\n',
  );
}
tools.kill();
const missing = partsNotRun(notRunFile);
if (missing.length > 0) process.stderr.write(`NOT RUN on this machine:\n  ${missing.join('\n  ')}\n`);
rmSync(folder, { recursive: true });
process.exitCode = passed ? 0 : 1;
