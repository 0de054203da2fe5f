/**
 * Builds the console into `dist`: `node packages/console/build.ts`, which `npm ci` does. With `--if-stale`, only where a source is newer
 * than the result. Each file is also compressed, so that control spends no time on it.
 */
import {
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { consoleFolder } from './src/index.ts';

const web = path.join(import.meta.dirname, 'web');

export function isStale(): boolean {
  const built = path.join(consoleFolder, 'index.html');
  if (!existsSync(built)) return true;
  const { mtimeMs } = statSync(built);
  const sources = ['web/**/*', 'build.ts', 'package.json'];
  return globSync(sources, { cwd: import.meta.dirname }).some(
    (file) => statSync(path.join(import.meta.dirname, file)).mtimeMs > mtimeMs,
  );
}

/** Two processes may build at the same time, and control may start meanwhile: `dist` is always whole. */
export async function buildConsole(): Promise<void> {
  const made = `${consoleFolder}-${process.pid}`;
  try {
    await buildInto(made);
    replace(consoleFolder, made);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** Puts the folder `made` in the place of another. */
function replace(folder: string, made: string): void {
  const old = `${made}-old`;
  for (;;) {
    if (existsSync(folder)) move(folder, old, 'ENOENT');
    const isDone = move(made, folder, 'ENOTEMPTY');
    rmSync(old, { recursive: true, force: true });
    if (isDone) return;
  }
}

/** Whether the folder was moved; not so if another process made this error just before. */
function move(from: string, to: string, expected: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === expected) return false;
    throw error;
  }
}

async function buildInto(folder: string): Promise<void> {
  await build({
    root: web,
    configFile: false,
    // All addresses are relative, so that the console works under any path prefix of a proxy.
    base: './',
    logLevel: 'warn',
    esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2022',
      // A data: address in a style is not permitted by the policy of control.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      // What few pages share is in few files: a page asks for less than 20.
      rollupOptions: { output: { experimentalMinChunkSize: 3_000 } },
    },
  });
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const from = path.join(folder, file);
    if (!statSync(from).isFile()) continue;
    const bytes = readFileSync(from);
    writeFileSync(`${from}.br`, brotliCompressSync(bytes));
    writeFileSync(`${from}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

if (import.meta.main && (!process.argv.includes('--if-stale') || isStale())) await buildConsole();
