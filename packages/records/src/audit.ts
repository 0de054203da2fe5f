/** The record of `audit`: who changed what, or tried to, as JSON. Secrets are never part of it. */
import { randomUUID } from 'node:crypto';
import { objectIn } from './json.ts';

/** One field of an entry, with both values; an absent value is left out. */
export interface AuditedField {
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface AuditActor {
  /** `token`: of the configuration; `setting`: a token of the environment; `user`: of the operating system, for commands. */
  readonly kind: 'token' | 'setting' | 'user' | 'service' | 'unknown';
  /** The name of the token or setting, or `user@host`. */
  readonly name: string;
  readonly tokenId?: string | undefined;
  /** The first 8 hex digits of the token's SHA-256, also of a wrong token. */
  readonly fingerprint?: string | undefined;
}

export interface AuditRecord {
  readonly id: string;
  /** ISO 8601, UTC with milliseconds. */
  readonly at: string;
  /** For example `destination.update`. */
  readonly action: string;
  /** For example `destination/crm`. */
  readonly target?: string | undefined;
  readonly outcome: 'done' | 'refused';
  /** The code of the error of a refused request. */
  readonly code?: string | undefined;
  readonly actor: AuditActor;
  /** The IP address of the client. */
  readonly address?: string | undefined;
  readonly changes: readonly AuditedField[];
  /** How many changes were left out, since a record is bounded. */
  readonly moreChanges?: number | undefined;
  /** How many refused requests before this one were not recorded, since their rate is bounded. */
  readonly notRecorded?: number | undefined;
}

/** As the publishers take it: `audit` has one partition, whose order is the order of the changes. */
interface EncodedAudit {
  readonly topic: string;
  readonly partition: number;
  readonly key: string | null;
  readonly value: string;
}

const maxFields = 50;
const maxValueLength = 1_000;
const maxTextLength = 300;

/** A record that happens now, cut to its bounds: about 100 KB at most, and usually below 1 KB. */
export function newAudit(
  record: Omit<AuditRecord, 'id' | 'at' | 'moreChanges'>,
  now = Date.now(),
): AuditRecord {
  const { changes, target, action, actor } = record;
  return {
    ...record,
    id: randomUUID(),
    at: new Date(now).toISOString(),
    action: action.slice(0, maxTextLength),
    target: target?.slice(0, maxTextLength),
    actor: { ...actor, name: actor.name.slice(0, maxTextLength) },
    changes: changes.slice(0, maxFields).map(({ field, before, after }) => ({
      field: field.slice(0, maxTextLength),
      ...(before !== undefined && { before: shorten(before) }),
      ...(after !== undefined && { after: shorten(after) }),
    })),
    ...(changes.length > maxFields && { moreChanges: changes.length - maxFields }),
  };
}

export function encodeAudit(topic: string, record: AuditRecord): EncodedAudit {
  return { topic, partition: 0, key: record.target ?? null, value: JSON.stringify(record) };
}

/** Undefined for a record of another form. */
export function decodeAudit(value: Buffer | null): AuditRecord | undefined {
  const content = objectIn<AuditRecord>(value);
  const { id, at, action, outcome, actor, changes } = content ?? {};
  const isText = [id, at, action, outcome].every((text) => typeof text === 'string');
  return isText && typeof actor === 'object' && Array.isArray(changes) ? (content as AuditRecord) : undefined;
}

/** A long value as the beginning of its JSON. */
function shorten(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text.length <= maxValueLength ? value : `${text.slice(0, maxValueLength)}…`;
}
