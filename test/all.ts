/**
 * `npm test`: the checks, the Go client library, every test that needs Kafka, and last the tests of faults. The tests of
 * the launcher (infra/local) are the slowest and depend on little else: where they have passed on the same files in
 * this checkout, they are left out, and the last line says so. A fresh checkout runs everything.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder } from './support/caches.ts';

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

async function run(script: string, ...args: string[]): Promise<boolean> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, script), ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

const withoutLauncher = launcherPassed();
const folders = ['e2e', 'integration', ...(withoutLauncher ? [] : ['launcher'])];
const filesOf = (folder: string): string => `test/${folder}/**/*.test.ts`;
const version = launcherVersion();
const passed =
  (await run('check.ts')) &&
  (await run('go.ts')) &&
  (await run('run.ts', '--test-concurrency=4', ...folders.map(filesOf))) &&
  // Each of these loads the machine by itself.
  (await run('run.ts', '--test-concurrency=2', filesOf('faults')));
if (passed && !withoutLauncher) {
  mkdirSync(cacheFolder, { recursive: true });
  writeFileSync(stamp, version);
}
if (withoutLauncher) {
  process.stderr.write(
    'Not run: the tests of the launcher, unchanged since they passed here (npm run test:launcher).\n',
  );
}
process.exitCode = passed ? 0 : 1;
