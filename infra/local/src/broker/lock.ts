/**
 * Locks a directory for one process, with a file that identifies the owner. The lock of a process that is gone, as
 * after a `kill -9`, counts as free, also where its process id belongs to a later process.
 */
import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';

/** Identifies a process, and distinguishes it from a later one with the same id. */
export interface ProcessIdentity {
  readonly pid: number;
  /** The start time, in units of the system. Empty where the system does not provide it. */
  readonly startedAt: string;
}

export type LockAttempt =
  | { readonly heldBy: number }
  /** `wasStale`: the previous owner did not release the lock. */
  | { readonly release: () => Promise<void>; readonly wasStale: boolean };

/** Acquires the lock at `path` for this process, or returns its owner. */
export async function acquireLock(path: string): Promise<LockAttempt> {
  const mine = `${path}.${randomUUID()}`;
  await writeFile(mine, JSON.stringify(await identify(process.pid)));
  let wasStale = false;
  try {
    for (;;) {
      if (await linkIfAbsent(mine, path)) return { release: () => rm(path, { force: true }), wasStale };
      const holder = await readIdentity(path);
      if (holder !== undefined && (await isAlive(holder))) return { heldBy: holder.pid };
      wasStale = true;
      const stale = `${mine}.stale`;
      await rename(path, stale).catch(() => undefined);
      await rm(stale, { force: true });
    }
  } finally {
    await rm(mine, { force: true });
  }
}

export async function identify(pid: number): Promise<ProcessIdentity> {
  return { pid, startedAt: (await readStat(pid))?.startedAt ?? '' };
}

/** The identity in a file. Undefined where there is none. */
export async function readIdentity(path: string): Promise<ProcessIdentity | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as ProcessIdentity;
  } catch {
    return undefined;
  }
}

/** A process that has ended but is not reaped yet counts as gone. */
export async function isAlive({ pid, startedAt }: ProcessIdentity): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  const stat = await readStat(pid);
  if (stat === undefined || startedAt === '') return true;
  return stat.startedAt === startedAt && stat.state !== 'Z';
}

/** A link is created with its content atomically, and never replaces another one. */
async function linkIfAbsent(existing: string, path: string): Promise<boolean> {
  try {
    await link(existing, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

/** Fields 3 and 22 of `/proc/<pid>/stat` (proc(5)), where available. The command in field 2 may contain spaces. */
async function readStat(pid: number): Promise<{ state: string; startedAt: string } | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', startedAt: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
