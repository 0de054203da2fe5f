/**
 * The tables. They hold copies only: to change a table, raise `schemaVersion`; every instance then rebuilds its tables from
 * the topics.
 *
 * Times are milliseconds since the epoch. A list is sorted by time and id and filtered by a few columns, so each filter has
 * an index that begins with its column and the time; `list.ts` chooses among them. Indexes do not hold the id: it takes
 * 36 bytes in each, and only rows of the same millisecond need it to be sorted.
 */
import { pendingStatuses } from '../facts/delivery-row.ts';
import { shareTables } from './shares.ts';

export const schemaVersion = 12;
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
/** A week has 10,080 minutes, which take too long to add up. */
export const attemptCounts = [
  { table: 'attempt_minutes', unitMs: minuteMs },
  { table: 'attempt_hours', unitMs: hourMs },
] as const;
const deadCounts = [
  { table: 'dead_minutes', unitMs: minuteMs },
  { table: 'dead_hours', unitMs: hourMs },
] as const;

/** The index of each filter of the list of deliveries. */
export const deliveryIndexes = {
  destination_id: 'deliveries_by_destination',
  source_id: 'deliveries_by_source',
  type: 'deliveries_by_type',
  event: 'deliveries_by_event',
  user_key: 'deliveries_by_user',
  status: 'deliveries_by_status',
} as const;

/** The index of each filter of the list of dead letters. */
export const deadLetterIndexes = {
  destination_id: 'dead_letters_by_destination',
  reason: 'dead_letters_by_reason',
  type: 'dead_letters_by_type',
  event: 'dead_letters_by_event',
  user_key: 'dead_letters_by_user',
} as const;

/** The index of each filter of the list of events that destinations did not get. */
export const filteredIndexes = {
  destination_id: 'filtered_events_by_destination',
  source_id: 'filtered_events_by_source',
  reason: 'filtered_events_by_reason',
  user_key: 'filtered_events_by_user',
} as const;

function filterIndexes(table: string, time: string, indexes: Readonly<Record<string, string>>): string {
  return Object.entries(indexes)
    .map(
      ([column, name]) =>
        `CREATE INDEX ${name} ON ${table} (${column}, ${time})${column === 'event' ? ' WHERE event IS NOT NULL' : ''};`,
    )
    .join('\n');
}

export const tables = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  -- The next offset to read of each partition, written in the transaction of the records.
  CREATE TABLE offsets (
    topic TEXT NOT NULL, partition INTEGER NOT NULL, next INTEGER NOT NULL,
    PRIMARY KEY (topic, partition)
  ) WITHOUT ROWID;

  CREATE TABLE deliveries (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    event_id TEXT NOT NULL, source_id TEXT NOT NULL, destination_id TEXT NOT NULL,
    type TEXT NOT NULL, event TEXT, user_key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    status TEXT NOT NULL, changed_at INTEGER NOT NULL, rank INTEGER NOT NULL,
    reason TEXT, next_due_at INTEGER,
    topic TEXT, partition INTEGER, "offset" INTEGER, placed_at INTEGER
  );
  CREATE UNIQUE INDEX deliveries_by_id ON deliveries (id);
  CREATE INDEX deliveries_by_time ON deliveries (created_at);
  CREATE INDEX deliveries_by_event_id ON deliveries (event_id);
  -- Those that end where their latest record is finished: see reconcile.ts.
  CREATE INDEX deliveries_by_place ON deliveries (topic, partition, "offset") WHERE status IN ${pendingStatuses};
  CREATE INDEX deliveries_by_owner ON deliveries (source_id, destination_id, created_at);
  ${filterIndexes('deliveries', 'created_at', deliveryIndexes)}

  -- The attempts of a delivery. The destination is set for those that failed, for the index of failures.
  CREATE TABLE attempts (
    delivery INTEGER NOT NULL, started_at INTEGER NOT NULL, attempt INTEGER NOT NULL,
    destination_id TEXT, latency_ms REAL NOT NULL, outcome TEXT NOT NULL,
    reason TEXT, next_due_at INTEGER, urls TEXT NOT NULL,
    PRIMARY KEY (delivery, started_at, attempt)
  ) WITHOUT ROWID;
  CREATE INDEX failures ON attempts (destination_id, reason, started_at) WHERE reason IS NOT NULL;

  -- When a delivery was sent again, and by whom.
  CREATE TABLE resends (
    delivery INTEGER NOT NULL, at INTEGER NOT NULL, name TEXT,
    PRIMARY KEY (delivery, at)
  ) WITHOUT ROWID;

  -- Attempts of a destination in a minute and in an hour by outcome and latency, in the format of counts.ts.
  ${attemptCounts.map(attemptCountTable).join('\n')}

  -- Failed attempts, and dead deliveries, of a destination in a minute by reason: counted while they are read, because
  -- counting them in a query would take as long as there are many.
  CREATE TABLE failed_minutes (
    destination_id TEXT NOT NULL, minute INTEGER NOT NULL, reason TEXT NOT NULL,
    attempts INTEGER NOT NULL, dead INTEGER NOT NULL,
    -- Of the attempts. Deaths are known to the minute.
    first_at INTEGER, last_at INTEGER,
    PRIMARY KEY (destination_id, minute, reason)
  ) WITHOUT ROWID;
  CREATE INDEX failed_minutes_by_time ON failed_minutes (minute);
  -- Their sums, kept by the triggers below, because a receiver that is down for a week has 10,080 minutes. first_at stays while failures
  -- follow.
  CREATE TABLE issues (
    destination_id TEXT NOT NULL, reason TEXT NOT NULL, attempts INTEGER NOT NULL, dead INTEGER NOT NULL,
    first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
    PRIMARY KEY (destination_id, reason)
  ) WITHOUT ROWID;
  ${addsToIssues('issues_added', 'INSERT', 'new.attempts, new.dead')}
  ${addsToIssues('issues_changed', 'UPDATE', 'new.attempts - old.attempts, new.dead - old.dead')}
  CREATE TRIGGER issues_removed AFTER DELETE ON failed_minutes BEGIN
    UPDATE issues SET attempts = attempts - old.attempts, dead = dead - old.dead
    WHERE destination_id = old.destination_id AND reason = old.reason;
    DELETE FROM issues WHERE destination_id = old.destination_id AND reason = old.reason AND attempts <= 0 AND dead <= 0;
  END;

  -- Why events did not become a delivery for each connected destination. "filtered" is JSON.
  CREATE TABLE decisions (
    row INTEGER PRIMARY KEY,
    event_id TEXT NOT NULL, decided_at INTEGER NOT NULL, source_id TEXT NOT NULL,
    type TEXT NOT NULL, event TEXT, user_key TEXT NOT NULL, routed INTEGER NOT NULL, filtered TEXT NOT NULL,
    -- The number of its rows in filtered_events.
    exits INTEGER NOT NULL
  );
  CREATE UNIQUE INDEX decisions_by_event ON decisions (event_id, decided_at, source_id);
  CREATE INDEX decisions_by_time ON decisions (decided_at);
  CREATE INDEX decisions_by_owner ON decisions (source_id, decided_at);
  -- A row for each destination that did not get the event, for lists. The destination is empty where none was connected.
  CREATE TABLE filtered_events (
    row INTEGER PRIMARY KEY,
    decision INTEGER NOT NULL, decided_at INTEGER NOT NULL, event_id TEXT NOT NULL,
    source_id TEXT NOT NULL, destination_id TEXT NOT NULL, reason TEXT NOT NULL, user_key TEXT NOT NULL
  );
  CREATE INDEX filtered_events_by_decision ON filtered_events (decision);
  CREATE INDEX filtered_events_by_time ON filtered_events (decided_at);
  ${filterIndexes('filtered_events', 'decided_at', filteredIndexes)}

  CREATE TABLE usage (
    source_id TEXT NOT NULL, day TEXT NOT NULL, type TEXT NOT NULL, calls INTEGER NOT NULL, filtered INTEGER NOT NULL,
    PRIMARY KEY (source_id, day, type)
  ) WITHOUT ROWID;
  CREATE INDEX usage_by_time ON usage (day);
  -- The empty name stands for all names beyond the limit of a source and day; no event has an empty name.
  CREATE TABLE event_usage (
    source_id TEXT NOT NULL, event TEXT NOT NULL, day TEXT NOT NULL, calls INTEGER NOT NULL, filtered INTEGER NOT NULL,
    first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
    PRIMARY KEY (source_id, event, day)
  ) WITHOUT ROWID;
  CREATE INDEX event_usage_by_time ON event_usage (day);
  CREATE INDEX event_usage_by_owner ON event_usage (source_id, day);

  -- The records of deliveries.dead, also those that are not deliveries: they have empty texts instead of a destination, a
  -- reason and a type.
  CREATE TABLE dead_letters (
    row INTEGER PRIMARY KEY,
    partition INTEGER NOT NULL, "offset" INTEGER NOT NULL, died_at INTEGER NOT NULL,
    delivery_id TEXT, event_id TEXT, source_id TEXT, destination_id TEXT NOT NULL,
    type TEXT NOT NULL, event TEXT, user_key TEXT, reason TEXT NOT NULL,
    attempts INTEGER NOT NULL, replayed INTEGER NOT NULL
  );
  CREATE UNIQUE INDEX dead_letters_by_position ON dead_letters (partition, "offset");
  CREATE INDEX dead_letters_by_time ON dead_letters (died_at);
  CREATE INDEX dead_letters_by_delivery ON dead_letters (delivery_id);
  ${filterIndexes('dead_letters', 'died_at', deadLetterIndexes)}
  -- Replays that were read before their dead letters.
  CREATE TABLE early_replays (
    partition INTEGER NOT NULL, "offset" INTEGER NOT NULL, delivery_id TEXT,
    PRIMARY KEY (partition, "offset")
  ) WITHOUT ROWID;
  -- Dead letters of an hour and of a minute, counted by the triggers below, because counting a million takes too long.
  ${deadCounts.map(deadCountTable).join('\n')}
  CREATE TABLE flow (
    unit INTEGER NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (unit, at, kind, reason)
  ) WITHOUT ROWID;
  CREATE TABLE pending (
    destination_id TEXT NOT NULL, topic TEXT NOT NULL, reason TEXT NOT NULL, deliveries INTEGER NOT NULL,
    PRIMARY KEY (destination_id, topic, reason)
  ) WITHOUT ROWID;
  CREATE TRIGGER pending_removed AFTER DELETE ON deliveries WHEN old.status IN ${pendingStatuses} BEGIN
    UPDATE pending SET deliveries = max(0, deliveries - 1) WHERE destination_id = old.destination_id
      AND topic = ifnull(old.topic, '') AND reason = ifnull(old.reason, '');
  END;
  -- The latest attempt of each destination; since when a breaker is open is null where none is. And the latest that was delivered.
  CREATE TABLE breakers (
    destination_id TEXT PRIMARY KEY, at INTEGER NOT NULL, open_since INTEGER, delivered_at INTEGER
  ) WITHOUT ROWID;
  -- When the latest call of each source was received.
  CREATE TABLE latest_calls (source_id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE backlog_minutes (
    destination_id TEXT NOT NULL, at INTEGER NOT NULL, added INTEGER NOT NULL, ended INTEGER NOT NULL,
    PRIMARY KEY (destination_id, at)
  ) WITHOUT ROWID;
  CREATE INDEX backlog_minutes_by_time ON backlog_minutes (at);
  -- The pending deliveries of a destination, of which there are few among millions.
  CREATE INDEX deliveries_pending ON deliveries (destination_id, created_at)
    WHERE status IN ${pendingStatuses};
  ${shareTables}
`;

/** The health of destinations is added up from the index of the outcomes alone. */
function attemptCountTable({ table }: (typeof attemptCounts)[number]): string {
  const outcomes = ['delivered', 'retry', 'dead'];
  return `
  CREATE TABLE ${table} (
    destination_id TEXT NOT NULL, at INTEGER NOT NULL, counts TEXT NOT NULL,
    ${outcomes.map((name) => `${name} INTEGER AS (ifnull(counts ->> '$.outcomes.${name}', 0)) STORED,`).join('\n    ')}
    PRIMARY KEY (destination_id, at)
  ) WITHOUT ROWID;
  CREATE INDEX ${table}_by_time ON ${table} (at);
  CREATE INDEX ${table}_outcomes ON ${table} (destination_id, at, ${outcomes.join(', ')});`;
}

function addsToIssues(trigger: string, after: 'INSERT' | 'UPDATE', counts: string): string {
  return `CREATE TRIGGER ${trigger} AFTER ${after} ON failed_minutes BEGIN
    INSERT INTO issues VALUES (new.destination_id, new.reason, ${counts},
      ifnull(new.first_at, new.minute), ifnull(new.last_at, new.minute))
    ON CONFLICT DO UPDATE SET attempts = attempts + excluded.attempts, dead = dead + excluded.dead,
      first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at);
  END;`;
}

function deadCountTable({ table, unitMs }: (typeof deadCounts)[number]): string {
  const key = (row: 'new' | 'old'): string =>
    `at = ${row}.died_at / ${unitMs} * ${unitMs} AND destination_id = ${row}.destination_id ` +
    `AND reason = ${row}.reason AND type = ${row}.type`;
  return `
  CREATE TABLE ${table} (
    at INTEGER NOT NULL, destination_id TEXT NOT NULL, reason TEXT NOT NULL, type TEXT NOT NULL,
    letters INTEGER NOT NULL, replayed INTEGER NOT NULL, oldest INTEGER NOT NULL, newest INTEGER NOT NULL,
    PRIMARY KEY (at, destination_id, reason, type)
  ) WITHOUT ROWID;
  CREATE TRIGGER ${table}_added AFTER INSERT ON dead_letters BEGIN
    INSERT OR IGNORE INTO ${table} VALUES (new.died_at / ${unitMs} * ${unitMs}, new.destination_id, new.reason,
      new.type, 0, 0, new.died_at, new.died_at);
    UPDATE ${table} SET letters = letters + 1, replayed = replayed + new.replayed,
      oldest = min(oldest, new.died_at), newest = max(newest, new.died_at) WHERE ${key('new')};
  END;
  CREATE TRIGGER ${table}_replayed AFTER UPDATE OF replayed ON dead_letters BEGIN
    UPDATE ${table} SET replayed = replayed + new.replayed - old.replayed WHERE ${key('new')};
  END;
  CREATE TRIGGER ${table}_removed AFTER DELETE ON dead_letters BEGIN
    UPDATE ${table} SET letters = letters - 1, replayed = replayed - old.replayed WHERE ${key('old')};
    DELETE FROM ${table} WHERE ${key('old')} AND letters <= 0;
  END;`;
}
