/**
 * Folders of programs and schemas, outside of the checkout. A folder is filled under another name and renamed when it is
 * complete, so that an interrupted or a concurrent run leaves no partial state. Its name contains the version.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

function cacheFolder(): string {
  const base = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
  return path.join(base, 'tailrace', 'tools');
}

const running = new Map<string, Promise<string>>();

/** The path of `name` in the cache, after `fill` has written its content once. */
export function cached(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const known = running.get(name);
  if (known) return known;
  const filled = fillOnce(path.join(cacheFolder(), name), fill);
  running.set(name, filled);
  return filled;
}

/** Whether `name` is in the cache. */
export function isCached(name: string): boolean {
  return existsSync(path.join(cacheFolder(), name));
}

async function fillOnce(folder: string, fill: (folder: string) => Promise<void>): Promise<string> {
  if (existsSync(folder)) return folder;
  const partial = `${folder}.partial-${randomUUID()}`;
  await mkdir(partial, { recursive: true });
  try {
    await fill(partial);
    await rename(partial, folder).catch((error: unknown) => {
      // A concurrent run finished first, with the same content.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return folder;
}
