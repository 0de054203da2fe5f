/**
 * The SQLite file of the history: opened, made anew where it is not of this version, this cluster and these topics,
 * and what its failures mean. Nobody else may have it open: a second process on the same folder is refused.
 */
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { TailraceError } from '@tailrace/errors';
import { schemaVersion, tables } from './schema.ts';

export interface Store {
  readonly db: DatabaseSync;
  /** Whether it was made anew by this opening. */
  readonly isNew: boolean;
  /** All of `work` or nothing. */
  readonly transaction: (work: () => void) => void;
  close(): void;
}

const fileName = 'history.sqlite';
/** Bounds what the process keeps of the file in memory. */
const cacheKib = 32 * 1024;
/** 32 MB of pages of 4 KB: the fewer times they are moved to the file, the less the process waits for the disk. */
const walPages = 8_000;

/**
 * Opens the store in `folder`, which is made where it is missing. `origin` names what its content comes from: the
 * cluster and the topics.
 */
export function openStore(folder: string, origin: string): Store {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, fileName);
  const madeOf = `${schemaVersion} ${origin}`;
  let db = open(file);
  if (madeOfIn(db) !== madeOf) {
    db.close();
    deleteStore(folder);
    db = open(file);
    db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;');
    create(db, madeOf);
    return storeOf(db, true);
  }
  return storeOf(db, false);
}

/** Removes the file, which is then read anew from the topics. */
export function deleteStore(folder: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) {
    rmSync(path.join(folder, `${fileName}${suffix}`), { force: true });
  }
}

/** Opened, and closed again where it cannot be used. */
function open(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 1_000 });
  try {
    // The lock of a process that is gone is gone with it.
    db.exec(`
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA synchronous = NORMAL;
      PRAGMA cache_size = -${cacheKib};
      PRAGMA wal_autocheckpoint = ${walPages};
      PRAGMA temp_store = MEMORY;
      SELECT count(*) FROM sqlite_schema;
    `);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function madeOfIn(db: DatabaseSync): unknown {
  const known = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get();
  return known && db.prepare("SELECT value FROM meta WHERE name = 'made-of'").get()?.['value'];
}

function create(db: DatabaseSync, madeOf: string): void {
  db.exec(`BEGIN IMMEDIATE; ${tables}`);
  db.prepare("INSERT INTO meta (name, value) VALUES ('made-of', ?)").run(madeOf);
  db.exec('COMMIT');
}

function storeOf(db: DatabaseSync, isNew: boolean): Store {
  return {
    db,
    isNew,
    transaction: (work) => {
      db.exec('BEGIN IMMEDIATE');
      try {
        work();
        db.exec('COMMIT');
      } catch (error) {
        // Some failures have rolled it back already, and what then fails here says nothing new.
        try {
          db.exec('ROLLBACK');
        } catch {
          throw error;
        }
        throw error;
      }
    },
    close() {
      if (db.isOpen) db.close();
    },
  };
}

/** SQLite's primary result codes, https://sqlite.org/rescode.html. */
const resultCodes = {
  corrupt: [11, 26],
  unavailable: { 3: 'it may not be opened', 5: 'another process has it open', 8: 'it may only be read' },
  disk: { 7: 'memory is short', 10: 'the disk fails', 13: 'the disk is full', 14: 'it cannot be opened' },
} as const;
const reasons: Readonly<Record<number, string>> = { ...resultCodes.unavailable, ...resultCodes.disk };

/** What a failure says of the store: to be made anew, or to be tried again later, and why; undefined for a defect. */
export function storeFailure(error: unknown): 'corrupt' | { readonly why: string } | undefined {
  const { code, errcode, message } = error as NodeJS.ErrnoException & { readonly errcode?: number };
  if (code === 'ERR_SQLITE_ERROR' && errcode !== undefined) {
    const primary = errcode & 0xff;
    if ((resultCodes.corrupt as readonly number[]).includes(primary)) return 'corrupt';
    const why = reasons[primary];
    return why === undefined ? undefined : { why: `${why} (${message})` };
  }
  // The folder.
  const isFolders =
    code !== undefined && ['EACCES', 'ENOSPC', 'EROFS', 'ENOTDIR', 'EEXIST', 'EIO'].includes(code);
  return isFolders ? { why: message } : undefined;
}

export function historyUnavailable(why: string): TailraceError {
  return new TailraceError(
    'history-unavailable',
    `What happened to events cannot be looked up now: ${why}. Sources, destinations and deliveries do not depend on it.`,
  );
}
