/** The record of `audit`: who changed what, or tried to, as JSON. Secrets are never part of it. */
import { randomUUID } from 'node:crypto';
import Type from 'typebox';
import { objectIn, type ValueOf } from './json.ts';

const optionalText = (description: string) => Type.Optional(Type.String({ description }));

export const auditSchema = Type.Object({
  id: Type.String(),
  at: Type.String({ format: 'date-time' }),
  action: Type.String({ description: 'for example destination.update' }),
  target: optionalText('for example destination/crm'),
  outcome: Type.Enum(['done', 'refused']),
  code: optionalText('the code of the error of a refused request'),
  actor: Type.Object({
    kind: Type.Enum(['token', 'setting', 'user', 'service', 'unknown'], {
      description:
        'setting: a token of the environment; user: of a command on Kafka; service: control itself',
    }),
    name: Type.String({ description: 'the name of the token or setting, or user@host' }),
    tokenId: Type.Optional(Type.String()),
    fingerprint: optionalText("the first 8 hex digits of the token's SHA-256, also of a wrong token"),
  }),
  address: optionalText('the IP address of the client'),
  changes: Type.Array(
    Type.Object({
      field: Type.String(),
      before: Type.Optional(Type.Unknown()),
      after: Type.Optional(Type.Unknown()),
    }),
    { description: 'the fields that changed, without secrets' },
  ),
  moreChanges: Type.Optional(Type.Integer({ description: 'changes beyond the first 50' })),
  notRecorded: Type.Optional(
    Type.Integer({ description: 'refused requests before this one that were not recorded' }),
  ),
});

export type AuditRecord = ValueOf<typeof auditSchema>;
export type AuditActor = AuditRecord['actor'];
/** One field of an entry, with both values; an absent value is left out. */
export type AuditedField = AuditRecord['changes'][number];

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
export function newAudit(record: Omit<AuditRecord, 'id' | 'at' | 'moreChanges'>): AuditRecord {
  const { changes, target, action, actor } = record;
  return {
    ...record,
    id: randomUUID(),
    at: new Date().toISOString(),
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
