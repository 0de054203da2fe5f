/**
 * The SQLite file of the history. It is rebuilt if it belongs to another version, cluster or set of topics. Only one process
 * may open it: a second process on the same folder is refused.
 */
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { TailraceError } from '@tailrace/errors';
import { schemaVersion, tables } from '../schema/schema.ts';

export type Store = ReturnType<typeof storeOf>;

const fileName = 'history.sqlite';
/** SQLite's page cache. */
const cacheKib = 16 * 1024;
/** 32 MB of pages of 4 KB. Fewer checkpoints mean less waiting for the disk. */
const walPages = 8_000;

/**
 * @param folder created where it is missing
 * @param origin identifies the source of the content: the cluster and the topics
 * @param prepare changes the open file before its first use, for tests
 */
export function openStore(folder: string, origin: string, prepare?: (db: DatabaseSync) => void): Store {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, fileName);
  const madeOf = `${schemaVersion} ${origin}`;
  let db = open(file);
  prepare?.(db);
  if (madeOfIn(db) !== madeOf) {
    db.close();
    deleteStore(folder);
    db = open(file);
    prepare?.(db);
    db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;');
    return checked(storeOf(db, true), (opened) => create(opened, madeOf));
  }
  return checked(storeOf(db, false), requireSpace);
}

/** Closes the store if the check fails. */
function checked(store: Store, check: (db: DatabaseSync) => void): Store {
  try {
    check(store.db);
    return store;
  } catch (error) {
    store.close();
    throw error;
  }
}

/** A batch of records takes less. */
const requiredBytes = 256 * 1024;

/** Throws while the disk is full, so that the history is not available for the moment until its next write. */
function requireSpace(db: DatabaseSync): void {
  db.exec('BEGIN IMMEDIATE');
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('space', ?)").run(' '.repeat(requiredBytes));
  db.exec("DELETE FROM meta WHERE name = 'space'; COMMIT");
}

/** Removes the file; the next opening rebuilds it from the topics. */
export function deleteStore(folder: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) {
    rmSync(path.join(folder, `${fileName}${suffix}`), { force: true });
  }
}

function open(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 1_000 });
  try {
    // The exclusive lock ends with the process that holds it.
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

function storeOf(db: DatabaseSync, isNew: boolean) {
  return {
    db,
    /** Whether opening created the file. */
    isNew,
    /** Runs `work` in a transaction, which is rolled back if `work` throws. */
    transaction: (work: () => void): void => {
      db.exec('BEGIN IMMEDIATE');
      try {
        work();
        db.exec('COMMIT');
      } catch (error) {
        // SQLite rolls back some failures itself; ROLLBACK then fails without adding information.
        try {
          db.exec('ROLLBACK');
        } catch {
          throw error;
        }
        throw error;
      }
    },
    close(): void {
      if (db.isOpen) db.close();
    },
  };
}

/** SQLite's primary result codes, https://sqlite.org/rescode.html. */
const resultCodes = {
  corrupt: [11, 26],
  unavailable: { 3: 'access is denied', 5: 'another process has it open', 8: 'it is read-only' },
  disk: { 7: 'out of memory', 10: 'disk error', 13: 'the disk is full', 14: 'it cannot be opened' },
} as const;
const reasons: Readonly<Record<number, string>> = { ...resultCodes.unavailable, ...resultCodes.disk };

/** Classifies a failure: `corrupt` needs a rebuild, `why` a later retry; undefined for a defect. */
export function storeFailure(error: unknown): 'corrupt' | { readonly why: string } | undefined {
  const { code, errcode, message } = error as NodeJS.ErrnoException & { readonly errcode?: number };
  if (code === 'ERR_SQLITE_ERROR' && errcode !== undefined) {
    const primary = errcode & 0xff;
    if ((resultCodes.corrupt as readonly number[]).includes(primary)) return 'corrupt';
    const why = reasons[primary];
    return why === undefined ? undefined : { why: `${why} (${message})` };
  }
  const isFolderError =
    code !== undefined && ['EACCES', 'ENOSPC', 'EROFS', 'ENOTDIR', 'EEXIST', 'EIO'].includes(code);
  return isFolderError ? { why: message } : undefined;
}

export function historyUnavailable(why: string): TailraceError {
  return new TailraceError(
    'history-unavailable',
    `The history is unavailable: ${why}. Sources, destinations and deliveries are not affected.`,
  );
}
