/**
 * The tables that are limited, and the share of the file that each may take. While the file is full, rows are removed from the
 * table that exceeds its share the most, and in it from the source and destination that take the most, oldest first. So a flood
 * of one source does not remove the history of another, and no table removes another.
 *
 * The size of each owner's rows is estimated by triggers, from the lengths of their texts.
 */

export interface LimitedTable {
  readonly table: string;
  /** Of the file, from 0 to 1. Space that others do not use may be used beyond it. */
  readonly share: number;
  /** The columns of the owner: one, or a source and a destination. Never null. */
  readonly owner: readonly [string, part?: string];
  /** The column of the time by which rows expire, with an index of its own. */
  readonly time: string;
  readonly timeUnit: 'milliseconds' | 'day';
  /** The columns of the primary key. */
  readonly key: string;
  /** The bytes of a row without its texts, with its indexes and the rows that belong to it. */
  readonly baseBytes: number;
  /** Texts whose length counts; each is also in an index. */
  readonly texts: readonly string[];
  /** A column with the number of rows in another table that belong to the row, and the bytes of each. */
  readonly parts?: readonly [column: string, bytes: number];
  /** Rows that are removed together, in one turn of the event loop. */
  readonly portion: number;
  /** How long rows are kept at most: the history's own age, or as long as the topic keeps its records. */
  readonly age: 'history' | 'usage' | 'topic';
}

const usual = { timeUnit: 'milliseconds', key: 'row', age: 'history', portion: 500 } as const;
const ofDestination = {
  ...usual,
  owner: ['destination_id'],
  time: 'at',
  key: 'destination_id, at',
  texts: ['destination_id'],
} as const;

export const limitedTables: readonly LimitedTable[] = [
  {
    ...usual,
    table: 'deliveries',
    share: 0.58,
    owner: ['source_id', 'destination_id'],
    time: 'created_at',
    baseBytes: 330,
    texts: ['id', 'event_id', 'event', 'user_key'],
  },
  {
    ...usual,
    table: 'decisions',
    share: 0.1,
    owner: ['source_id'],
    time: 'decided_at',
    // Each may have 100 rows of filtered_events.
    portion: 50,
    parts: ['exits', 245],
    baseBytes: 120,
    texts: ['event_id', 'event', 'user_key', 'filtered'],
  },
  {
    ...usual,
    table: 'dead_letters',
    share: 0.15,
    owner: ['destination_id'],
    time: 'died_at',
    age: 'topic',
    baseBytes: 200,
    texts: ['delivery_id', 'event', 'user_key'],
  },
  { ...ofDestination, table: 'attempt_minutes', share: 0.04, baseBytes: 250 },
  { ...ofDestination, table: 'attempt_hours', share: 0.01, baseBytes: 500 },
  {
    ...ofDestination,
    table: 'failed_minutes',
    share: 0.05,
    time: 'minute',
    key: 'destination_id, minute, reason',
    baseBytes: 60,
  },
  { ...ofDestination, table: 'backlog_minutes', share: 0.02, baseBytes: 40 },
  {
    ...usual,
    table: 'event_usage',
    share: 0.05,
    owner: ['source_id'],
    time: 'day',
    timeUnit: 'day',
    key: 'source_id, event, day',
    age: 'usage',
    baseBytes: 90,
    texts: ['event'],
  },
];

/** The rows that belong to a delivery, with the bytes of each, and a text of theirs. */
const partsOfDeliveries = [
  { table: 'attempts', bytes: 60, text: 'urls' },
  { table: 'resends', bytes: 30, text: 'name' },
];

/** The table of sizes by owner, and the triggers that keep it. */
export const shareTables = `
  CREATE TABLE shares (
    kind TEXT NOT NULL, owner TEXT NOT NULL, part TEXT NOT NULL, bytes INTEGER NOT NULL,
    -- Rows of this owner from before this time were removed and are not stored again.
    floor INTEGER NOT NULL,
    PRIMARY KEY (kind, owner, part)
  ) WITHOUT ROWID;
  ${limitedTables.map(triggersOf).join('\n')}
  ${partsOfDeliveries.map(partTriggersOf).join('\n')}
  CREATE TRIGGER filtered_events_removed BEFORE DELETE ON decisions BEGIN
    DELETE FROM filtered_events WHERE decision = old.row;
  END;
`;

type Row = 'new' | 'old';

function partTriggersOf({ table, bytes, text }: (typeof partsOfDeliveries)[number]): string {
  const owner = (row: Row): string =>
    `WHERE kind = 'deliveries' AND (owner, part) =
      (SELECT source_id, destination_id FROM deliveries WHERE row = ${row}.delivery)`;
  return `
  CREATE TRIGGER ${table}_counted AFTER INSERT ON ${table} BEGIN
    UPDATE shares SET bytes = bytes + ${bytes} + length(ifnull(new.${text}, '')) ${owner('new')};
  END;
  CREATE TRIGGER ${table}_uncounted AFTER DELETE ON ${table} BEGIN
    UPDATE shares SET bytes = bytes - ${bytes} - length(ifnull(old.${text}, '')) ${owner('old')};
  END;
  CREATE TRIGGER ${table}_removed BEFORE DELETE ON deliveries BEGIN
    DELETE FROM ${table} WHERE delivery = old.row;
  END;`;
}

function triggersOf({ table, owner: [owner, part], baseBytes, texts, parts }: LimitedTable): string {
  const bytes = (row: Row): string =>
    `(${[
      baseBytes,
      ...(parts ? [`${row}.${parts[0]} * ${parts[1]}`] : []),
      ...texts.map((text) => `2 * length(ifnull(${row}.${text}, ''))`),
    ].join(' + ')})`;
  const ownerOf = (row: Row): string => `${row}.${owner}`;
  const partOf = (row: Row): string => (part === undefined ? `''` : `${row}.${part}`);
  const isOf = (row: Row): string =>
    `kind = '${table}' AND owner = ${ownerOf(row)} AND part = ${partOf(row)}`;
  return `
  CREATE TRIGGER ${table}_counted AFTER INSERT ON ${table} BEGIN
    INSERT OR IGNORE INTO shares VALUES ('${table}', ${ownerOf('new')}, ${partOf('new')}, 0, 0);
    UPDATE shares SET bytes = bytes + ${bytes('new')} WHERE ${isOf('new')};
  END;
  CREATE TRIGGER ${table}_uncounted AFTER DELETE ON ${table} BEGIN
    UPDATE shares SET bytes = bytes - ${bytes('old')} WHERE ${isOf('old')};
  END;
  CREATE TRIGGER ${table}_changed AFTER UPDATE OF ${texts.join(', ')} ON ${table} BEGIN
    UPDATE shares SET bytes = bytes + ${bytes('new')} - ${bytes('old')} WHERE ${isOf('new')};
  END;`;
}
