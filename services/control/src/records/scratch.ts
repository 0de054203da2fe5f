/** SQLite files for what is too much for memory, and is made again where it is needed. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Opens a new file, which is unlinked once it is open: nothing of it remains after the process, even after a crash.
 *
 * @param folder created where it is missing
 * @param cacheKb of memory
 * @param sql creates the tables
 */
export function openScratch(folder: string, name: string, cacheKb: number, sql: string): DatabaseSync {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${name}-${randomUUID()}.sqlite`);
  const database = new DatabaseSync(file);
  // A journal on disk would be a second, named file.
  database.exec(`
    PRAGMA journal_mode = MEMORY;
    PRAGMA synchronous = OFF;
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -${cacheKb};
    ${sql}
  `);
  rmSync(file);
  return database;
}
