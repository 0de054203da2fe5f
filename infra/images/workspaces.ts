/**
 * Reduces the working directory to one workspace of npm and the workspaces that it depends on:
 *
 *   node workspaces.ts install services/ingest   installs production dependencies for $TARGETARCH, also on another processor
 *   node workspaces.ts keep services/ingest      removes all else, and what only people and editors read; licences stay
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Returns the folders of a workspace and of all workspaces that it depends on, directly or not. */
export function withDependencies(folder: string, root = '.'): string[] {
  const folders = globSync('{packages,services}/*/package.json', { cwd: root }).map((file) =>
    path.dirname(file),
  );
  const manifestOf = (folder: string): Manifest =>
    JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as Manifest;
  const folderOf = new Map(folders.map((folder) => [manifestOf(folder).name, folder]));
  const found = new Set([folder]);
  // A set is walked together with what is added meanwhile.
  for (const each of found) {
    for (const name of Object.keys(manifestOf(each).dependencies ?? {})) {
      const dependency = folderOf.get(name);
      if (dependency !== undefined) found.add(dependency);
    }
  }
  return [...found].sort();
}

function install(folders: readonly string[]): void {
  const architecture = process.env['TARGETARCH'];
  const cpu = architecture === 'amd64' ? 'x64' : architecture;
  // No package runs a script: the native ones come built.
  const options = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--os=linux', '--libc=glibc'];
  const selected = folders.map((folder) => `--workspace=${folder}`);
  const { status } = spawnSync('npm', ['ci', ...options, `--cpu=${cpu}`, ...selected], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}

function keep(folders: readonly string[]): void {
  const others = globSync(['packages/*', 'services/*', 'infra', 'test']).filter(
    (folder) => !folders.includes(folder) && folder !== 'services/start.ts',
  );
  const forReaders = globSync('**/node_modules/**/*.{map,d.ts,d.mts,d.cts,md}').filter(
    (file) => !/^licen[cs]e/i.test(path.basename(file)),
  );
  const forNpm = ['package-lock.json', '.npmrc', 'node_modules/.package-lock.json'];
  for (const file of [...others, ...forReaders, ...forNpm]) rmSync(file, { recursive: true, force: true });
}

if (import.meta.main) {
  const [verb, folder = ''] = process.argv.slice(2);
  const folders = withDependencies(folder);
  if (verb === 'install') install(folders);
  else keep(folders);
}
