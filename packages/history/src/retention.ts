/**
 * Limits the history by age and size. Rows are removed in small portions, so that requests are answered between two of them.
 * Which rows are removed when the file is full is described in schema/shares.ts.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { minutesKeptMs } from './tables/flow.ts';
import type { Store } from './sqlite/store.ts';
import { hourMs, minuteMs } from './schema/schema.ts';
import { limitedTables, type LimitedTable } from './schema/shares.ts';

export interface HistoryLimits {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

/** Dead letters whose records have expired. */
const expiredPortion = 500;
/** Empty pages of 4 KB that are returned to the disk after a portion. */
const pagesToVacuum = 1_000;
/** The retention of the topic `usage`. */
const usageDays = 90;
const dayMs = 86_400_000;
const floorKind = 'deliveries';

interface Pruner extends LimitedTable {
  readonly removeBefore: StatementSync | undefined;
  readonly removeOldest: StatementSync;
}

export class Retention {
  readonly #store: Store;
  readonly #limits: HistoryLimits;
  readonly #now: () => number;
  readonly #sql: ReturnType<typeof statementsOf>;
  readonly #pruners: readonly Pruner[];
  /** By `ownerKey`. */
  readonly #floors: Map<string, number>;

  constructor(store: Store, limits: HistoryLimits, now: () => number) {
    this.#store = store;
    this.#limits = limits;
    this.#now = now;
    this.#sql = statementsOf(store.db);
    this.#pruners = limitedTables.map((limited) => prunerOf(store.db, limited));
    this.#floors = readFloors(store.db);
  }

  /** Deliveries of a source and destination from before this time (milliseconds since the epoch) are not stored. */
  floorOf(sourceId: string, destinationId: string): number {
    return Math.max(this.#ageFloor(), this.#floors.get(ownerKey(sourceId, destinationId)) ?? 0);
  }

  /** Size of the stored data; the file may be larger temporarily. */
  get bytes(): number {
    const pragma = (name: string): number => Number(this.#store.db.prepare(`PRAGMA ${name}`).get()?.[name]);
    return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
  }

  /** Removes a portion of what exceeds the limits. Returns whether there may be more. */
  prune(): boolean {
    const now = this.#now();
    const { removeUsage, removeBreakers, removeLatest, removeFlow } = this.#sql;
    removeUsage.run(this.#usageFloor());
    removeBreakers.run(this.#ageFloor());
    removeLatest.run(now - usageDays * dayMs);
    removeFlow.run(minuteMs, now - minutesKeptMs);
    removeFlow.run(hourMs, Math.min(this.#ageFloor(), now - minutesKeptMs));
    // Each table loses a portion, so that none waits for another.
    const removed = this.#pruners.map((pruner) => this.#removeByAge(pruner));
    if (removed.some(Boolean)) return true;
    return this.bytes > this.#limits.maxBytes && this.#removeForSpace() > 0;
  }

  /**
   * Removes a portion of the dead letters whose records have expired. Returns whether there may be more.
   *
   * @param lows by partition of `deliveries.dead`, the first offset that is kept
   */
  pruneExpired(lows: ReadonlyMap<number, number>): boolean {
    let removed = 0;
    for (const [partition, low] of lows) {
      removed += this.#remove(() => {
        this.#sql.removeReplays.run(partition, low);
        return Number(this.#sql.removeLetters.run(partition, low).changes);
      });
    }
    return removed > 0;
  }

  #ageFloor(): number {
    return this.#now() - this.#limits.maxAgeMs;
  }

  #usageFloor(): string {
    return new Date(this.#now() - usageDays * dayMs).toISOString().slice(0, 10);
  }

  /** Returns whether there may be more. */
  #removeByAge({ removeBefore, age, portion }: Pruner): boolean {
    if (!removeBefore) return false;
    const floor = age === 'usage' ? this.#usageFloor() : this.#ageFloor();
    return this.#remove(() => removeBefore.all(floor).length) === portion;
  }

  /** Removes the oldest rows of the owner with the most, in the table that exceeds its share the most. */
  #removeForSpace(): number {
    const { sizes, largestOwner, largestPart, forget, putFloor } = this.#sql;
    const taken = new Map(sizes.all().map((row) => [String(row['kind']), Number(row['bytes'])]));
    const [most] = this.#pruners.toSorted(
      (a, b) => (taken.get(b.table) ?? 0) / b.share - (taken.get(a.table) ?? 0) / a.share,
    );
    if (!most || (taken.get(most.table) ?? 0) <= 0) return 0;
    const { table } = most;
    const owner = String(largestOwner.get(table)?.['owner'] ?? '');
    const part = String(largestPart.get(table, owner)?.['part'] ?? '');
    return this.#remove(() => {
      const rows = most.removeOldest.all(owner, ...(most.owner[1] === undefined ? [] : [part]));
      // An estimate may be left where no row is.
      if (rows.length === 0) forget.run(table, owner, part);
      if (table === floorKind && rows.length > 0) {
        const floor = Math.max(...rows.map((row) => Number(row['time']))) + 1;
        putFloor.run(floor, floorKind, owner, part);
        this.#floors.set(ownerKey(owner, part), floor);
      }
      return Math.max(rows.length, 1);
    });
  }

  #remove(work: () => number): number {
    const { db, transaction } = this.#store;
    let removed = 0;
    transaction(() => {
      removed = work();
    });
    if (removed > 0) db.exec(`PRAGMA incremental_vacuum(${pagesToVacuum})`);
    return removed;
  }
}

function statementsOf(db: DatabaseSync) {
  return {
    removeUsage: db.prepare('DELETE FROM usage WHERE day < ?'),
    removeBreakers: db.prepare('DELETE FROM breakers WHERE at < ?'),
    removeLatest: db.prepare('DELETE FROM latest_calls WHERE at < ?'),
    removeFlow: db.prepare('DELETE FROM flow WHERE unit = ? AND at < ?'),
    sizes: db.prepare('SELECT kind, sum(bytes) AS bytes FROM shares GROUP BY kind'),
    largestOwner: db.prepare(
      'SELECT owner FROM shares WHERE kind = ? GROUP BY owner ORDER BY sum(bytes) DESC, owner LIMIT 1',
    ),
    largestPart: db.prepare(
      'SELECT part FROM shares WHERE kind = ? AND owner = ? ORDER BY bytes DESC, part LIMIT 1',
    ),
    putFloor: db.prepare('UPDATE shares SET floor = ? WHERE kind = ? AND owner = ? AND part = ?'),
    forget: db.prepare('UPDATE shares SET bytes = 0 WHERE kind = ? AND owner = ? AND part = ?'),
    removeLetters: db.prepare(`
      DELETE FROM dead_letters WHERE row IN
        (SELECT row FROM dead_letters WHERE partition = ? AND "offset" < ? ORDER BY "offset" LIMIT ${expiredPortion})`),
    removeReplays: db.prepare('DELETE FROM early_replays WHERE partition = ? AND "offset" < ?'),
  };
}

function prunerOf(db: DatabaseSync, limited: LimitedTable): Pruner {
  const { table, owner, time, key, age, portion } = limited;
  const remove = (condition: string): StatementSync =>
    db.prepare(`
      DELETE FROM ${table} WHERE (${key}) IN
        (SELECT ${key} FROM ${table} WHERE ${condition} ORDER BY ${time} LIMIT ${portion})
      RETURNING ${time} AS time`);
  return {
    ...limited,
    removeBefore: age === 'topic' ? undefined : remove(`${time} < ?`),
    removeOldest: remove(owner.map((column) => `${column} = ?`).join(' AND ')),
  };
}

function readFloors(db: DatabaseSync): Map<string, number> {
  const rows = db
    .prepare('SELECT owner, part, floor FROM shares WHERE kind = ? AND floor > 0')
    .all(floorKind);
  return new Map(
    rows.map((row) => [ownerKey(String(row['owner']), String(row['part'])), Number(row['floor'])]),
  );
}

/** Ids hold no space. */
function ownerKey(owner: string, part: string): string {
  return `${owner} ${part}`;
}
