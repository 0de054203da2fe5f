/**
 * The tables. They hold copies only: to change a table, raise `schemaVersion`; every instance then rebuilds its tables from
 * the topics.
 *
 * Times are milliseconds since the epoch. A list is sorted by time and id and filtered by a few columns, so each filter has
 * an index in the order of the list; `deliveries.ts` chooses among them.
 */

export const schemaVersion = 1;

/** The index of each filter of the list of deliveries. */
export const deliveryIndexes = {
  destination_id: 'deliveries_by_destination',
  source_id: 'deliveries_by_source',
  type: 'deliveries_by_type',
  event: 'deliveries_by_event',
  user_key: 'deliveries_by_user',
  status: 'deliveries_by_status',
} as const;

export type FilterColumn = keyof typeof deliveryIndexes;

const filterIndexes = Object.entries(deliveryIndexes).map(
  ([column, name]) => `CREATE INDEX ${name} ON deliveries (${column}, created_at, id);`,
);

export const tables = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  -- The next offset to read of each partition, written in the transaction of the records.
  CREATE TABLE offsets (
    topic TEXT NOT NULL, partition INTEGER NOT NULL, next INTEGER NOT NULL,
    PRIMARY KEY (topic, partition)
  ) WITHOUT ROWID;

  CREATE TABLE deliveries (
    id TEXT PRIMARY KEY NOT NULL,
    event_id TEXT NOT NULL, source_id TEXT NOT NULL, destination_id TEXT NOT NULL,
    type TEXT NOT NULL, event TEXT, user_key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    status TEXT NOT NULL, changed_at INTEGER NOT NULL, rank INTEGER NOT NULL,
    reason TEXT, next_due_at INTEGER,
    topic TEXT, partition INTEGER, "offset" INTEGER, placed_at INTEGER
  );
  CREATE INDEX deliveries_by_time ON deliveries (created_at, id);
  CREATE INDEX deliveries_by_event_id ON deliveries (event_id);
  CREATE INDEX deliveries_dead ON deliveries (destination_id, reason, changed_at) WHERE status = 'dead';
  ${filterIndexes.join('\n')}

  CREATE TABLE attempts (
    delivery_id TEXT NOT NULL, started_at INTEGER NOT NULL, attempt INTEGER NOT NULL,
    destination_id TEXT NOT NULL, latency_ms REAL NOT NULL, outcome TEXT NOT NULL,
    reason TEXT, next_due_at INTEGER, urls TEXT NOT NULL,
    PRIMARY KEY (delivery_id, started_at, attempt)
  ) WITHOUT ROWID;
  CREATE INDEX failures ON attempts (destination_id, reason, started_at) WHERE reason IS NOT NULL;

  -- Attempts of a destination in a minute by outcome and latency, in the format of counts.ts.
  CREATE TABLE minutes (
    destination_id TEXT NOT NULL, minute INTEGER NOT NULL, counts TEXT NOT NULL,
    PRIMARY KEY (destination_id, minute)
  ) WITHOUT ROWID;

  CREATE TABLE usage (
    source_id TEXT NOT NULL, day TEXT NOT NULL, type TEXT NOT NULL, calls INTEGER NOT NULL, filtered INTEGER NOT NULL,
    PRIMARY KEY (source_id, day, type)
  ) WITHOUT ROWID;
  CREATE TABLE event_usage (
    source_id TEXT NOT NULL, event TEXT NOT NULL, day TEXT NOT NULL, calls INTEGER NOT NULL, filtered INTEGER NOT NULL,
    first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
    PRIMARY KEY (source_id, event, day)
  ) WITHOUT ROWID;
`;
