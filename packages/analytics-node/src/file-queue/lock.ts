/**
 * One process at a time uses a directory. The file `lock` names the process. It is stale where that process has
 * ended, or, for a process of another host, where it was not touched for a minute.
 */
import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import path from 'node:path';
import { invalidOption, reasonOf } from '../core/errors.ts';

interface Owner {
  readonly pid: number;
  readonly host: string;
  /** When the process started, to recognise a process id that is used again. */
  readonly started?: string | undefined;
  /** Of the client. */
  readonly id?: string | undefined;
}

const touchEveryMs = 20_000;
const staleAfterMs = 60_000;
/** A file that is not complete within this time was cut off by a crash. */
const writingMs = 1_000;

/**
 * Locks the directory, and returns a function that unlocks it.
 *
 * @throws AnalyticsError `invalid-options` where another process, or another client, uses it
 */
export function lockDirectory(directory: string): () => void {
  const file = path.join(directory, 'lock');
  const self: Owner = {
    pid: process.pid,
    host: hostname(),
    started: startOf(process.pid),
    id: randomUUID(),
  };
  const create = (name: string): boolean => {
    try {
      writeFileSync(name, JSON.stringify(self), { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw invalidOption('queue', `cannot use ${directory}: ${reasonOf(error)}`, error);
    }
  };
  const refuseIfUsed = (name: string): void => {
    const owner = readOwner(name);
    const isUsed = owner ? isAlive(owner, self, name) : ageOf(name) < writingMs;
    if (isUsed) throw inUse(directory, owner);
  };
  if (!create(file)) {
    refuseIfUsed(file);
    // Several processes may find the stale lock at the same time. Only the one that creates this file replaces it.
    const replacement = `${file}.new`;
    if (!create(replacement)) {
      refuseIfUsed(replacement);
      rmSync(replacement, { force: true });
      if (!create(replacement)) throw inUse(directory, readOwner(replacement));
    }
    try {
      refuseIfUsed(file);
    } catch (error) {
      rmSync(replacement, { force: true });
      throw error;
    }
    renameSync(replacement, file);
  }
  const timer = setInterval(() => {
    try {
      utimesSync(file, new Date(), new Date());
    } catch {
      // The directory was removed.
    }
  }, touchEveryMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    // Where the directory was removed meanwhile, another client may have made it again.
    try {
      if (readOwner(file)?.id === self.id) rmSync(file, { force: true });
    } catch {
      // The file system has become read-only. The lock is stale when this process has ended.
    }
  };
}

/** Infinity where the file is gone. */
function ageOf(file: string): number {
  return Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity);
}

/** Undefined where the file is gone, or is not complete. */
function readOwner(file: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Owner;
  } catch {
    return undefined;
  }
}

function isAlive({ pid, host, started }: Owner, self: Owner, file: string): boolean {
  if (host !== self.host) return ageOf(file) < staleAfterMs;
  try {
    process.kill(pid, 0);
    const now = startOf(pid);
    return started === undefined || now === undefined || started === now;
  } catch (error) {
    // A process of another user exists too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The start of a process, in ticks since that of the system, which a change of the clock does not affect. Linux has it. */
function startOf(pid: number): string | undefined {
  try {
    // The name of the program, in brackets, may have any characters. The 20th field after it is the start.
    return /\) (?:\S+ ){19}(\d+) [^)]*$/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}

function inUse(directory: string, owner: Owner | undefined): Error {
  const by = owner ? `process ${owner.pid} on ${owner.host}` : 'another process';
  return invalidOption(
    'queue',
    `cannot use ${directory}: ${by} uses it; give each process its own directory`,
  );
}
