/** The built console: its files, for control, which serves them. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Made by `packages/console/build.ts`, which `npm ci` runs. */
export const consoleFolder = path.join(import.meta.dirname, '..', 'dist');

export interface ConsoleFile {
  /** The type of its content. */
  readonly type: string;
  readonly etag: string;
  /** Whether its name has a hash of its content, so that it never changes. */
  readonly isImmutable: boolean;
  readonly plain: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** All files by their paths, such as `assets/index-5f3c.js`; empty if the console is not built. They are less than 1 MB together. */
export function readConsole(folder = consoleFolder): ReadonlyMap<string, ConsoleFile> {
  if (!existsSync(path.join(folder, 'index.html'))) return new Map();
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return new Map(
    files.flatMap((file) => {
      const type = types[path.extname(file)];
      if (type === undefined) return [];
      const plain = readFileSync(path.join(folder, file));
      const [br, gzip] = [
        readFileSync(path.join(folder, `${file}.br`)),
        readFileSync(path.join(folder, `${file}.gz`)),
      ];
      const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 20)}"`;
      const name = file.split(path.sep).join('/');
      return [[name, { type, etag, isImmutable: name.startsWith('assets/'), plain, br, gzip }]];
    }),
  );
}
