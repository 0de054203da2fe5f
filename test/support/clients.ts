/**
 * Runs the public SDKs that are not for Node: Go, Python and Chromium. Their packages are pinned and kept in caches outside
 * the checkout. A missing program is an error that names it; no test is skipped.
 */
import { createHash, randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { run } from './tools/command.ts';

const clients = path.join(import.meta.dirname, '../e2e/clients');
const cache = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'tailrace');

/** Builds the public Go client's program into `folder` and runs it. */
export async function runGoClient(folder: string, args: readonly string[]): Promise<void> {
  await run(await buildGoProgram(path.join(clients, 'go'), folder), args);
}

/** GOTOOLCHAIN prevents a download of a newer toolchain; -mod=readonly makes go.sum binding. */
export const goEnvironment = {
  GOTOOLCHAIN: 'local',
  GOFLAGS: '-mod=readonly -buildvcs=false',
  GOWORK: 'off',
};

/** Builds the Go program in `sources` into `folder`, and resolves with the path of the executable. */
export async function buildGoProgram(
  sources: string,
  folder: string,
  flags: readonly string[] = [],
): Promise<string> {
  needGo();
  const program = path.join(folder, path.basename(sources));
  await run('go', ['build', ...flags, '-o', program, '.'], { cwd: sources, env: goEnvironment });
  return program;
}

function needGo(): void {
  need('go', 'The Go clients need Go 1.21 or later: install it from your distribution or go.dev.');
}

/**
 * Like {@link buildGoProgram}, with a clock that is an hour ahead: the program has a `time.Now` of its own in place of that of Go.
 * libfaketime has no effect on Go, which reads the clock without libc.
 */
export async function buildGoProgramAhead(sources: string, folder: string): Promise<string> {
  needGo();
  const root = (await run('go', ['env', 'GOROOT'], { env: goEnvironment })).trim();
  const file = path.join(root, 'src/time/time.go');
  const parts = readFileSync(file, 'utf8').split('\nfunc Now() Time {\n');
  if (parts.length !== 2) throw new Error(`${file} has no function Now as it is expected.`);
  // Without its monotonic reading, which would be ahead too.
  const ahead = '\nfunc Now() Time { return rightNow().Round(0).Add(Hour) }\n\nfunc rightNow() Time {\n';
  const replacement = path.join(folder, 'time.go');
  writeFileSync(replacement, parts.join(ahead));
  const overlay = path.join(folder, 'overlay.json');
  writeFileSync(overlay, JSON.stringify({ Replace: { [file]: replacement } }));
  // All packages are compiled for it, those in C are left out.
  return buildGoProgram(sources, folder, ['-overlay', overlay, '-tags', 'netgo,osusergo']);
}

/** Runs the public Python client's program. */
export async function runPythonClient(args: readonly string[]): Promise<void> {
  await runPython(path.join(clients, 'python/send.py'), args);
}

/** Runs a program with the packages of the requirements.txt beside it, and no others. */
export async function runPython(program: string, args: readonly string[]): Promise<void> {
  need('python3', 'The Python clients need Python 3 with pip: install python3 and python3-pip.');
  const packages = await installPythonPackages(path.join(path.dirname(program), 'requirements.txt'));
  const env = { PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' };
  await run('python3', [program, ...args], { env });
}

/**
 * Installs what the tests of a run need before its files start, each of which would otherwise do it by itself. A program that is
 * missing is no error here: the tests that need it report it.
 */
export async function prepareClients(): Promise<void> {
  const tests = path.join(import.meta.dirname, '..');
  const packages = globSync('**/requirements.txt', { cwd: tests }).map((file) => path.join(tests, file));
  await Promise.allSettled([
    findChromium(),
    ...(find('python3') === undefined ? [] : packages.map(installPythonPackages)),
  ]);
}

/** The folder in the cache. It appears only when it is complete. */
async function installPythonPackages(requirements: string): Promise<string> {
  const version = await run('python3', ['-c', 'import sys; print(*sys.version_info[:2], sep=".")']);
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = path.join(cache, `python${version.trim()}-${digest}`);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.partial-${randomUUID()}`;
  try {
    await mkdir(path.dirname(folder), { recursive: true });
    const options = ['--quiet', '--no-deps', '--disable-pip-version-check', '--root-user-action=ignore'];
    await run('python3', ['-m', 'pip', 'install', ...options, '--target', partial, '-r', requirements]);
    // Another run may have installed the same packages in the meantime.
    await rename(partial, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return folder;
}

/** The shell without a window comes first: the same engine for half the processor time. */
const browsers = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
];

/**
 * The path of Chromium. If there is none, and the user is root on a machine with apt (as in a container), Debian's package is
 * installed. Other machines are not changed.
 */
export async function findChromium(): Promise<string> {
  const installed = (): string | undefined => browsers.map(find).find((file) => file !== undefined);
  if (installed() === undefined && process.getuid?.() === 0 && find('apt-get') !== undefined) {
    const options = '--yes --quiet --no-install-recommends -o DPkg::Lock::Timeout=-1';
    const install = `apt-get update --quiet && apt-get install ${options} chromium-headless-shell`;
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    await mkdir(cache, { recursive: true });
    // Tests that run at the same time install it one after the other; the second one finds it.
    const lock = path.join(cache, 'apt.lock');
    await run('flock', [lock, 'sh', '-c', `command -v chromium-headless-shell || { ${install}; }`], { env });
  }
  const found = installed();
  if (found !== undefined) return found;
  throw new Error(
    'The browser tests need Chromium: install the package chromium-headless-shell or chromium, or Google Chrome.',
  );
}

/** The path of `command`; throws an error with `sentence` if there is none. */
function need(command: string, sentence: string): string {
  const found = find(command);
  if (found === undefined) throw new Error(sentence);
  return found;
}

/** The path of `command`; undefined if there is none. */
export function find(command: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return folders.map((folder) => path.join(folder, command)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
