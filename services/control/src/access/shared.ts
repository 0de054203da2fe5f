/**
 * Everything of which there is a bounded amount for all requests: one entry for each, with the share of one holder, and what
 * ends it. docs/threat-model.md lists them all, and table.ts has those of each operation. `shared.test.ts` fails for code that
 * counts requests beside this table.
 *
 * A limited token has a share: places are left for others whatever it does, and what others have begun goes on.
 */
import { maxNotifications, maxTokens } from '@tailrace/config';
import { maxSuppressions } from '@tailrace/suppressions';

/** Places that requests take and give back, which places.ts counts. */
export interface PlacesEntry {
  readonly kind: 'places';
  /** Completes "There are 8 …". */
  readonly what: string;
  /** The places of each instance, or those of all instances together. */
  readonly of: 'instance' | 'system';
  readonly most: number;
  /**
   * Who has a share: `token` is each token. `source` and `destination` are each limited token, and all limited tokens of one
   * source or destination.
   */
  readonly holder: 'token' | 'source' | 'destination';
  readonly ofOne: number;
  /** Of all limited tokens together; the rest is left for the others. */
  readonly ofLimited: number;
  /** How long a limited token may have a place, where its work has no end of its own. */
  readonly longestMs?: number;
  readonly ends: string;
  readonly retryAfterS?: number;
  /** Default: `too-many-at-once`. */
  readonly code?: 'too-many-at-once' | 'too-many-requests';
}

/** An amount that is no place. The code beside it enforces the limit. */
export interface AmountEntry {
  readonly kind: 'amount';
  readonly what: string;
  readonly of: 'instance' | 'system';
  /** With the share of one holder. */
  readonly most: string;
  readonly ends: string;
}

const counted = (number: number): string => number.toLocaleString('en');
const mb = 2 ** 20;
const hourMs = 3_600_000;

/** The numbers of the entries that are no places. */
export const amounts = {
  streamBytes: { most: 16 * mb, ofOne: mb },
  /** `ofOne` are calls a second of a stream; `followed` are those whose outcome may still change. */
  calls: { bytesInSecond: 4 * mb, ofOne: 50, followed: 1_000 },
  /** The same of copies of deliveries. */
  copies: { bytesInSecond: 4 * mb, ofOne: 50 },
  /** The replays of limited tokens and those of others each have so many. */
  endedReplays: 100,
  /** Beyond `always`, an upload has at most `expansion` times the bytes that were sent. */
  uploadBytes: { most: 4_096 * mb, expansion: 50, always: mb },
  membershipBytesOfLimited: 128 * mb,
  audiencesOfSource: 1_000,
  idempotencyKeys: { most: 100_000, ofOne: 10_000 },
  endedSessionsOfToken: 1_000,
} as const;

/** By what is shared. */
export const shared = {
  streams: {
    kind: 'places',
    what: 'open streams',
    of: 'instance',
    code: 'too-many-requests',
    most: 500,
    holder: 'token',
    ofOne: 50,
    ofLimited: 375,
    ends: 'the client leaves, its token ends, the instance stops, or the client takes nothing for two minutes',
  },
  streamBytes: {
    kind: 'amount',
    what: 'bytes that wait for the clients of streams',
    of: 'instance',
    most: `${amounts.streamBytes.most / mb} MB in equal parts, and ${amounts.streamBytes.ofOne / mb} MB of a stream`,
    ends: 'the client takes them, or newer ones take their place; the client is told how many it missed',
  },
  calls: {
    kind: 'amount',
    what: 'calls that streams look at',
    of: 'instance',
    most:
      `${amounts.calls.bytesInSecond / mb} MB a second in equal parts for the watched sources, and ${amounts.calls.ofOne} calls a second of a stream; ` +
      `${counted(amounts.calls.followed)} are followed`,
    ends: 'the next second; the client is told how many it missed',
  },
  copies: {
    kind: 'amount',
    what: 'copies of deliveries',
    of: 'instance',
    most:
      `${amounts.copies.bytesInSecond / mb} MB a second in equal parts for the destinations that are listened to, ` +
      `and ${amounts.copies.ofOne} copies a second of a stream`,
    ends: 'the next second; the client is told how many it missed',
  },
  replays: {
    kind: 'places',
    what: 'running replays',
    of: 'system',
    most: 8,
    holder: 'destination',
    ofOne: 2,
    ofLimited: 6,
    longestMs: 24 * hourMs,
    ends: 'every dead letter or event is replayed, or the replay is interrupted',
  },
  endedReplays: {
    kind: 'amount',
    what: 'replays that have ended and are kept',
    of: 'system',
    most: `${amounts.endedReplays} of limited tokens, and ${amounts.endedReplays} of others`,
    ends: 'newer ones take their place: of limited tokens, first the oldest of the destination with the most',
  },
  audienceSyncs: {
    kind: 'places',
    what: 'audience syncs and exports',
    of: 'instance',
    retryAfterS: 30,
    most: 8,
    holder: 'source',
    ofOne: 2,
    ofLimited: 6,
    longestMs: 4 * hourMs,
    ends: 'every change is sent, a later sync of the audience has begun, or the members are read',
  },
  uploadBytes: {
    kind: 'amount',
    what: 'bytes of an upload after decompression',
    of: 'instance',
    most:
      `${amounts.uploadBytes.most / 1_024 / mb} GB, and ${amounts.uploadBytes.expansion} times what was sent; ` +
      `of a limited token ${amounts.membershipBytesOfLimited / mb} MB of disk for a sync`,
    ends: 'the sync ends',
  },
  audiences: {
    kind: 'amount',
    what: 'audiences',
    of: 'system',
    most: `${counted(amounts.audiencesOfSource)} of a source`,
    ends: 'the audience is deleted',
  },
  records: {
    kind: 'places',
    what: 'single records being read',
    of: 'instance',
    most: 40,
    holder: 'token',
    ofOne: 10,
    ofLimited: 30,
    ends: 'Kafka has answered, or not for 30 seconds',
  },
  searches: {
    kind: 'places',
    what: 'searches of topics',
    of: 'instance',
    most: 8,
    holder: 'token',
    ofOne: 4,
    ofLimited: 0,
    ends: "the topics are read, or 17,500 records of a user's partition, the client leaves, or 20 seconds have passed",
  },
  summaries: {
    kind: 'places',
    what: 'summaries that read many rows of the history',
    of: 'instance',
    most: 4,
    holder: 'token',
    ofOne: 2,
    ofLimited: 3,
    ends: 'the rows are read, the client leaves, or 20 seconds have passed',
  },
  exports: {
    kind: 'places',
    what: 'running exports',
    of: 'instance',
    most: 8,
    holder: 'token',
    ofOne: 2,
    ofLimited: 6,
    ends: '100,000 rows are read, of an audience all, the client leaves or takes nothing for two minutes, or its token ends',
  },
  testEvents: {
    kind: 'places',
    what: 'test events in flight',
    of: 'instance',
    most: 40,
    holder: 'destination',
    ofOne: 5,
    ofLimited: 30,
    ends: 'the receivers have answered, at the latest after the time limit of a webhook',
  },
  transformTests: {
    kind: 'places',
    what: 'tests of transforms',
    of: 'instance',
    most: 20,
    holder: 'destination',
    ofOne: 3,
    ofLimited: 15,
    ends: 'the function has ended, at the latest with its thread',
  },
  notificationTests: {
    kind: 'places',
    what: 'test messages of notifications in flight',
    of: 'instance',
    most: 10,
    holder: 'token',
    ofOne: 5,
    ofLimited: 0,
    ends: 'the receiver has answered, at the latest after 80 seconds',
  },
  auditReadings: {
    kind: 'places',
    what: 'readings of the audit log',
    of: 'instance',
    most: 4,
    holder: 'token',
    ofOne: 2,
    ofLimited: 0,
    ends: '17,500 records are read, the client leaves, or 20 seconds have passed',
  },
  recalls: {
    kind: 'amount',
    what: 'retries and drains',
    of: 'system',
    most: 'one of a destination',
    ends: 'no delivery is left that was pending, or a later request for the destination replaces it',
  },
  deletions: {
    kind: 'amount',
    what: 'deletion requests',
    of: 'system',
    most: 'one portion of 500 records is sent at a time, of unlimited tokens only',
    ends: 'every user is sent; 180 days later for what is left then, its sources and their destinations',
  },
  suppressions: {
    kind: 'amount',
    what: 'suppressed and deleted users',
    of: 'system',
    most: `${counted(maxSuppressions)}, of unlimited tokens only`,
    ends: 'lifted, or for deleted users when what they did before has expired',
  },
  idempotencyKeys: {
    kind: 'amount',
    what: 'Idempotency-Keys',
    of: 'system',
    most: `${counted(amounts.idempotencyKeys.most)}, and ${counted(amounts.idempotencyKeys.ofOne)} of a token`,
    ends: '24 hours have passed',
  },
  issueMarks: {
    kind: 'amount',
    what: 'acknowledged and dismissed issues',
    of: 'system',
    most: 'one of a destination and reason that the history has, with a note of 500 characters',
    ends: 'the issue is reopened, or the destination is deleted',
  },
  endedSessions: {
    kind: 'amount',
    what: 'sessions that were signed out',
    of: 'system',
    most: `${counted(amounts.endedSessionsOfToken)} of a token`,
    ends: 'the session would have expired',
  },
  changes: {
    kind: 'amount',
    what: 'changes of the configuration',
    of: 'system',
    most: `one at a time; a request has 1 MB, a source 20 write keys and 1,000 blocked events; ${counted(maxTokens)} tokens, ${maxNotifications} notifications`,
    ends: 'Kafka has the change, or has not answered for 10 seconds',
  },
  requests: {
    kind: 'amount',
    what: 'requests',
    of: 'instance',
    most: '`TAILRACE_API_RATE_LIMIT` a second of a token, and of an address with wrong tokens; ten seconds together',
    ends: 'the next second',
  },
  refusedRequests: {
    kind: 'amount',
    what: 'refused requests in the audit log',
    of: 'instance',
    most: '50 and one in ten seconds of a token, and of all without one; the others are counted',
    ends: 'the next ten seconds',
  },
} as const satisfies Readonly<Record<string, PlacesEntry | AmountEntry>>;

export type SharedName = keyof typeof shared;

export type PlacesName = {
  [Name in SharedName]: (typeof shared)[Name]['kind'] extends 'places' ? Name : never;
}[SharedName];
