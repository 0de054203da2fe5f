/**
 * The suppressed and the deleted users with their ids, in the order of the ids: what lists show and what requests lift. In an
 * SQLite file, so that a million users need disk rather than memory. The file is made from the topic at each start.
 */
import type { SQLInputValue } from 'node:sqlite';
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

export type UserIndex = ReturnType<typeof openUserIndex>;

const cacheKb = 8 * 1024;

/**
 * All calls are synchronous.
 *
 * @param folder created where it is missing
 * @throws TailraceError (all calls but `put`) `overloaded` where a record could not be written to the disk
 */
export function openUserIndex(folder: string) {
  const database = openScratch(
    folder,
    'suppressions',
    cacheKb,
    `CREATE TABLE users (key BLOB PRIMARY KEY, value TEXT NOT NULL, until INTEGER) WITHOUT ROWID;
    CREATE INDEX users_until ON users (until) WHERE until IS NOT NULL;
    CREATE TABLE requests (request TEXT, key BLOB, PRIMARY KEY (request, key)) WITHOUT ROWID;`,
  );
  const putUser = database.prepare('INSERT OR REPLACE INTO users VALUES (?, ?, ?)');
  const deleteUser = database.prepare('DELETE FROM users WHERE key = ?');
  const putRequest = database.prepare('INSERT OR IGNORE INTO requests VALUES (?, ?)');
  const deleteRequest = database.prepare('DELETE FROM requests WHERE request = ? AND key = ?');
  const find = database.prepare('SELECT key, value FROM users WHERE key = ?');
  const range = database.prepare(
    'SELECT key, value FROM users WHERE key > ? AND key < ? ORDER BY key LIMIT ?',
  );
  const byRequest = database.prepare(
    'SELECT key, value FROM requests JOIN users USING (key) WHERE request = ? LIMIT ?',
  );
  const byTime = database.prepare('SELECT key, value FROM users WHERE until < ? LIMIT ?');

  let problem: Error | undefined;
  let inTransaction = false;
  const commit = (): void => {
    if (!inTransaction) return;
    inTransaction = false;
    attempt(() => database.exec('COMMIT'));
  };
  /** One transaction for the records of one turn of the event loop, which a fetch delivers together. */
  const begin = (): void => {
    if (inTransaction) return;
    database.exec('BEGIN');
    inTransaction = true;
    setImmediate(commit);
  };
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      problem ??= error as Error;
    }
  };

  const ask = <Entry>(run: () => readonly object[]): Entry[] => {
    if (!problem) return run().flatMap((row) => (entryOf(row) as Entry | undefined) ?? []);
    const message = `The suppressed users cannot be written to the disk of ${folder}. Free disk space, and restart control.`;
    throw new TailraceError('overloaded', message, { cause: problem });
  };
  const found = (key: string): unknown => ask(() => [find.get(Buffer.from(key)) ?? []].flat())[0];

  const put = (record: SuppressionRecord): void => {
    begin();
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
  };

  return {
    /** Does not throw. */
    put(record: SuppressionRecord): void {
      attempt(() => put(record));
    },
    suppressed: (userId: string) => found(suppressedKey(userId)) as SuppressedUser | undefined,
    /** At most `limit` suppressed users after the id `after`, in the order of the bytes of their ids. */
    suppressedAfter: (after = '', limit: number): SuppressedUser[] =>
      // '0' is the byte after '/'.
      ask(() => range.all(Buffer.from(suppressedKey(after)), Buffer.from('suppressed0'), limit)),
    deleted: (scope: string, userId: string) => found(deletedKey(scope, userId)) as DeletedUser | undefined,
    /** At most `limit` users whom the deletion request covers. */
    ofRequest: (requestId: string, limit: number): DeletedUser[] =>
      ask(() => byRequest.all(requestId, limit)),
    /** At most `limit` users whose latest deletion was before `time`, in milliseconds since the epoch. */
    deletedBefore: (time: number, limit: number): DeletedUser[] => ask(() => byTime.all(time, limit)),
    close(): void {
      commit();
      database.close();
    },
  };
}

function entryOf(row: object): SuppressedUser | DeletedUser | undefined {
  const { key, value } = row as { readonly key: Uint8Array; readonly value: string };
  return decodeSuppression({ key: Buffer.from(key), value: Buffer.from(value) })?.entry;
}
