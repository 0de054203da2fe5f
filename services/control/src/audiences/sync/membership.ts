/**
 * Compares the current members with the wanted ones: one row for each user, in an SQLite file for the time of one sync, so
 * that a million users need disk rather than memory.
 *
 * A user is sent whose `was` differs from `wanted`. By the kind of the sync:
 *
 * - `replace`, `delete`: `was` is a member, `wanted` is on the list.
 * - `change`: `was` is a member, `wanted` is as uploaded, and null for users that the upload does not name.
 * - `send`: `was` is sent by this sync, `wanted` is a member.
 */
import { TailraceError } from '@tailrace/errors';
import { openScratch } from '../../records/scratch.ts';
import type { AudienceSync, Change, CurrentMember } from '../state/records.ts';

export interface MembershipCounts {
  /** Current members. */
  readonly before: number;
  /** Users to join or to send, and users to leave. */
  readonly added: number;
  readonly removed: number;
}

export type Membership = ReturnType<typeof openMembership>;

const cacheKb = 16 * 1024;
const pageBytes = 4_096;
/** SQLite's result codes for a disk error and a full disk. */
const diskErrorCodes = [10, 13];

/**
 * Calls are synchronous, and take some microseconds for each user.
 *
 * @param folder created where it is missing
 * @param maxBytes of the file
 * @throws TailraceError (calls that write) `overloaded` on a full disk, and `invalid-membership` where the file would be too large
 */
export function openMembership(folder: string, kind: AudienceSync['kind'], maxBytes = Infinity) {
  const isSend = kind === 'send';
  const database = openScratch(
    folder,
    'audience-sync',
    cacheKb,
    `${Number.isFinite(maxBytes) ? `PRAGMA max_page_count = ${Math.floor(maxBytes / pageBytes)};` : ''}
    CREATE TABLE users (id BLOB PRIMARY KEY, was INTEGER NOT NULL, wanted INTEGER, since TEXT) WITHOUT ROWID;`,
  );
  const addWanted = database.prepare(`INSERT INTO users VALUES (?, 0, ?, NULL) ON CONFLICT DO NOTHING`);
  const setWanted = database.prepare(`UPDATE users SET wanted = ? WHERE id = ?`);
  const addCurrent = database.prepare(
    `INSERT INTO users VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET was = excluded.was
     ${isSend ? ', wanted = excluded.wanted, since = excluded.since' : ''}`,
  );
  const count = database.prepare(`
    SELECT coalesce(sum(${isSend ? 'wanted' : 'was'}), 0) AS before,
           coalesce(sum(wanted > was), 0) AS added,
           coalesce(sum(was > wanted), 0) AS removed
      FROM users`);
  const pageCount = database.prepare('PRAGMA page_count');
  const changes = database.prepare(
    `SELECT id, wanted, since FROM users WHERE id > ? AND was <> wanted ORDER BY id LIMIT ?`,
  );

  const first = database.prepare(
    `SELECT id FROM users WHERE was <> wanted AND wanted = ? ORDER BY id LIMIT ?`,
  );

  /** SQLite reports a file that may not grow as a full disk. */
  const isFull = (): boolean => {
    const { page_count: pages } = pageCount.get() as { page_count: number };
    return pages * pageBytes > 0.9 * maxBytes;
  };

  /** One transaction for many rows, which avoids a write of the file header for each row. */
  const inTransaction = <T>(work: () => T): T => {
    try {
      database.exec('BEGIN');
      const result = work();
      database.exec('COMMIT');
      return result;
    } catch (error) {
      const { errcode } = error as { errcode?: number };
      if (errcode === undefined || !diskErrorCodes.includes(errcode)) throw error;
      if (isFull()) throw tooLarge(maxBytes);
      const message = `The membership cannot be written to the disk of ${folder}. Free disk space, and send it again.`;
      throw new TailraceError('overloaded', message, { cause: error });
    }
  };

  return {
    /** Adds users of the upload, before the current members; the last change of a user counts. Returns how many were new. */
    addWanted: (users: readonly Change[]): number =>
      inTransaction(() => {
        let added = 0;
        for (const { userId, isMember } of users) {
          const id = Buffer.from(userId);
          const isNew = addWanted.run(id, Number(isMember)).changes === 1;
          if (isNew) added += 1;
          else setWanted.run(Number(isMember), id);
        }
        return added;
      }),
    /** Adds current members; the last change of a user counts. */
    addCurrent(users: readonly CurrentMember[]): void {
      inTransaction(() => {
        for (const { userId, isMember, isSent, since } of users) {
          const id = Buffer.from(userId);
          if (isSend) addCurrent.run(id, Number(isSent ?? false), Number(isMember), since ?? null);
          else addCurrent.run(id, Number(isMember), kind === 'change' ? null : 0, null);
        }
      });
    },
    counts: (): MembershipCounts => ({ ...(count.get() as unknown as MembershipCounts) }),
    /** The first `limit` differences of users after `after`, in byte order. */
    changes(after = '', limit: number): CurrentMember[] {
      // Ids are stored as blobs: SQLite text ends at a NUL, which an id may contain.
      const rows = changes.all(Buffer.from(after), limit) as unknown as readonly {
        readonly id: Uint8Array;
        readonly wanted: number;
        readonly since: string | null;
      }[];
      return rows.map(({ id, wanted, since }) => ({
        userId: Buffer.from(id).toString(),
        isMember: wanted === 1,
        ...(since !== null && { since }),
      }));
    },
    /** The first users who join, or who leave, in byte order. */
    first(joins: boolean, limit: number): string[] {
      const rows = first.all(Number(joins), limit) as { id: Uint8Array }[];
      return rows.map(({ id }) => Buffer.from(id).toString());
    },
    close(): void {
      database.close();
    },
  };
}

function tooLarge(maxBytes: number): TailraceError {
  const message =
    `The members take more than ${maxBytes / 2 ** 20} MB of disk, the most for a limited token. Use a token without limits. ` +
    'Nothing was changed.';
  return new TailraceError('invalid-membership', message);
}
