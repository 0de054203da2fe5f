/**
 * Who is a member and who shall be: one row for each user, in an SQLite file that has no name any more once it is
 * open, so that nothing of it is left whatever ends the process. It exists for the time of one sync, so that a million
 * users take disk and not memory.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { TailraceError } from '@tailrace/errors';

export interface Change {
  readonly userId: string;
  /** Whether the user is a member from now on. */
  readonly isMember: boolean;
}

export interface MembershipCounts {
  /** Members before, as far as it was told. */
  readonly before: number;
  /** Users who are to become members, and who are to cease to be. */
  readonly added: number;
  readonly removed: number;
}

/**
 * Calls are synchronous, and take some microseconds for each user. Those that write throw TailraceError `overloaded`
 * where the disk is full.
 */
export interface Membership {
  /** Adds users who shall be members. Returns how many were not among them yet. */
  want(userIds: readonly string[]): number;
  /** Takes note of who is a member at present, or is not any more; the last word about a user counts. */
  recall(users: readonly Change[]): void;
  counts(): MembershipCounts;
  /** The first `limit` differences whose users come after `after` in the order of their bytes. */
  changes(after: string | undefined, limit: number): Change[];
  close(): void;
}

const cacheKb = 16 * 1024;
/** SQLite's result codes for a disk that cannot be written to, and for one that is full. */
const diskTrouble = [10, 13];

/** @param folder is made where it is missing */
export function openMembership(folder: string): Membership {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `audience-sync-${randomUUID()}.sqlite`);
  const database = new DatabaseSync(file);
  // A journal on disk would be a file with a name of its own.
  database.exec(`
    PRAGMA journal_mode = MEMORY;
    PRAGMA synchronous = OFF;
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -${cacheKb};
    CREATE TABLE users (id BLOB PRIMARY KEY, was INTEGER NOT NULL, wanted INTEGER NOT NULL) WITHOUT ROWID;
  `);
  rmSync(file);

  const want = database.prepare(
    `INSERT INTO users VALUES (?, 0, 1) ON CONFLICT DO UPDATE SET wanted = 1 WHERE wanted = 0`,
  );
  const recall = database.prepare(
    `INSERT INTO users VALUES (?, ?, 0) ON CONFLICT DO UPDATE SET was = excluded.was`,
  );
  const count = database.prepare(`
    SELECT coalesce(sum(was), 0) AS before,
           coalesce(sum(wanted > was), 0) AS added,
           coalesce(sum(was > wanted), 0) AS removed
      FROM users`);
  const changes = database.prepare(
    `SELECT id, wanted FROM users WHERE id > ? AND was <> wanted ORDER BY id LIMIT ?`,
  );

  /** As one transaction, which spares a write of the file's header for each row. */
  const together = <T>(work: () => T): T => {
    try {
      database.exec('BEGIN');
      const result = work();
      database.exec('COMMIT');
      return result;
    } catch (error) {
      const { errcode } = error as { errcode?: number };
      if (errcode === undefined || !diskTrouble.includes(errcode)) throw error;
      const message = `The disk of ${folder} does not take the membership. Make room, and send it again.`;
      throw new TailraceError('overloaded', message, { cause: error });
    }
  };

  return {
    want: (userIds) =>
      together(() => {
        let added = 0;
        for (const userId of userIds) added += Number(want.run(Buffer.from(userId)).changes);
        return added;
      }),
    recall(users) {
      together(() => {
        for (const { userId, isMember } of users) recall.run(Buffer.from(userId), Number(isMember));
      });
    },
    counts: () => ({ ...(count.get() as unknown as MembershipCounts) }),
    changes(after = '', limit) {
      // Ids are blobs, because SQLite's texts end at a NUL, which an id may hold.
      const rows = changes.all(Buffer.from(after), limit) as { id: Uint8Array; wanted: number }[];
      return rows.map(({ id, wanted }) => ({ userId: Buffer.from(id).toString(), isMember: wanted === 1 }));
    },
    close() {
      database.close();
    },
  };
}
