/**
 * The suppressed and the deleted users with their ids, in the order of the ids: what lists show and what requests lift. In an
 * SQLite file, so that a million users need disk rather than memory. The file is made from the topic at each start.
 */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { TailraceError } from '@tailrace/errors';
import {
  decodeSuppression,
  deletedKey,
  deletedUntil,
  encodeDeleted,
  encodeSuppressed,
  suppressedKey,
  type DeletedUser,
  type SuppressedUser,
  type SuppressionRecord,
} from '@tailrace/suppressions';
import { openScratch } from '../records/scratch.ts';

const cacheKb = 8 * 1024;

/**
 * All calls are synchronous.
 *
 * @throws TailraceError (all calls but `put`) `overloaded` where a record could not be written to the disk
 */
export class UserIndex {
  readonly #folder: string;
  readonly #database: DatabaseSync;
  readonly #sql: ReturnType<typeof statementsOf>;
  #problem: Error | undefined;
  #inTransaction = false;

  /** @param folder created where it is missing */
  constructor(folder: string) {
    this.#folder = folder;
    this.#database = openScratch(
      folder,
      'suppressions',
      cacheKb,
      `CREATE TABLE users (key BLOB PRIMARY KEY, value TEXT NOT NULL, until INTEGER) WITHOUT ROWID;
      CREATE INDEX users_until ON users (until) WHERE until IS NOT NULL;
      CREATE TABLE requests (request TEXT, key BLOB, PRIMARY KEY (request, key)) WITHOUT ROWID;`,
    );
    this.#sql = statementsOf(this.#database);
  }

  /** Does not throw. */
  put(record: SuppressionRecord): void {
    this.#attempt(() => {
      this.#begin();
      this.#put(record);
    });
  }

  suppressed(userId: string): SuppressedUser | undefined {
    return this.#find(suppressedKey(userId)) as SuppressedUser | undefined;
  }

  /** At most `limit` suppressed users after the id `after`, in the order of the bytes of their ids. */
  suppressedAfter(after = '', limit: number): SuppressedUser[] {
    // '0' is the byte after '/'.
    const [from, to] = [Buffer.from(suppressedKey(after)), Buffer.from('suppressed0')];
    return this.#ask(() => this.#sql.range.all(from, to, limit));
  }

  deleted(scope: string, userId: string): DeletedUser | undefined {
    return this.#find(deletedKey(scope, userId)) as DeletedUser | undefined;
  }

  /** At most `limit` users whom the deletion request covers. */
  ofRequest(requestId: string, limit: number): DeletedUser[] {
    return this.#ask(() => this.#sql.byRequest.all(requestId, limit));
  }

  /** At most `limit` users whose latest deletion was before `time`, in milliseconds since the epoch. */
  deletedBefore(time: number, limit: number): DeletedUser[] {
    return this.#ask(() => this.#sql.byTime.all(time, limit));
  }

  close(): void {
    this.#commit();
    this.#database.close();
  }

  #find(key: string): unknown {
    return this.#ask(() => [this.#sql.find.get(Buffer.from(key)) ?? []].flat())[0];
  }

  #ask<Entry>(run: () => readonly object[]): Entry[] {
    if (!this.#problem) return run().flatMap((row) => (entryOf(row) as Entry | undefined) ?? []);
    const message = `The suppressed users cannot be written to the disk of ${this.#folder}. Free disk space, and restart control.`;
    throw new TailraceError('overloaded', message, { cause: this.#problem });
  }

  #put(record: SuppressionRecord): void {
    const { find, putUser, deleteUser, putRequest, deleteRequest } = this.#sql;
    const { userId, entry } = record;
    const key = Buffer.from(
      record.kind === 'suppressed' ? suppressedKey(userId) : deletedKey(record.scope, userId),
    );
    const [stored] = [find.get(key) ?? []].flat().map(entryOf);
    if (stored?.kind === 'deleted') for (const { id } of stored.requests) deleteRequest.run(id, key);
    if (!entry) {
      deleteUser.run(key);
      return;
    }
    const { value } = entry.kind === 'deleted' ? encodeDeleted('', entry) : encodeSuppressed('', entry);
    const until: SQLInputValue = entry.kind === 'deleted' ? deletedUntil(entry) : null;
    putUser.run(key, String(value), until);
    if (entry.kind === 'deleted') for (const { id } of entry.requests) putRequest.run(id, key);
  }

  /** One transaction for the records of one turn of the event loop, which a fetch delivers together. */
  #begin(): void {
    if (this.#inTransaction) return;
    this.#database.exec('BEGIN');
    this.#inTransaction = true;
    setImmediate(() => {
      this.#commit();
    });
  }

  #commit(): void {
    if (!this.#inTransaction) return;
    this.#inTransaction = false;
    this.#attempt(() => this.#database.exec('COMMIT'));
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#problem ??= error as Error;
    }
  }
}

function statementsOf(database: DatabaseSync) {
  const select = 'SELECT key, value FROM';
  return {
    putUser: database.prepare('INSERT OR REPLACE INTO users VALUES (?, ?, ?)'),
    deleteUser: database.prepare('DELETE FROM users WHERE key = ?'),
    putRequest: database.prepare('INSERT OR IGNORE INTO requests VALUES (?, ?)'),
    deleteRequest: database.prepare('DELETE FROM requests WHERE request = ? AND key = ?'),
    find: database.prepare(`${select} users WHERE key = ?`),
    range: database.prepare(`${select} users WHERE key > ? AND key < ? ORDER BY key LIMIT ?`),
    byRequest: database.prepare(`${select} requests JOIN users USING (key) WHERE request = ? LIMIT ?`),
    byTime: database.prepare(`${select} users WHERE until < ? LIMIT ?`),
  };
}

function entryOf(row: object): SuppressedUser | DeletedUser | undefined {
  const { key, value } = row as { readonly key: Uint8Array; readonly value: string };
  return decodeSuppression({ key: Buffer.from(key), value: Buffer.from(value) })?.entry;
}
