/** The steps that every change of a source or a destination shares: precondition, validation, write, and answer. */
import {
  problemsError,
  type Changed,
  type Checked,
  type ConfigSnapshot,
  type Decision,
  type Destination,
  type Entry,
  type EntryKind,
  type Problem,
  type Source,
} from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** An entry after a change, and the version that it had before. */
export interface ChangedEntry<Of extends Source | Destination> {
  readonly kind: EntryKind;
  readonly entry: Of;
  readonly versionBefore: number | undefined;
}

/**
 * Compares the request's If-Match with the version of an entry.
 *
 * @throws TailraceError `precondition-failed`
 */
export function checkPrecondition(request: FastifyRequest, version: number | undefined): void {
  const ifMatch = request.headers['if-match'];
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (!tags.includes(etagOf(version))) throw new TailraceError('precondition-failed');
}

/**
 * @param problemsOf further problems of an entry whose form is valid
 * @throws TailraceError `invalid-configuration` with every problem
 */
export function requireValid<Of>(checked: Checked<Of>, problemsOf: (entry: Of) => readonly Problem[]): Of {
  if ('problems' in checked) throw problemsError(checked.problems);
  const problems = problemsOf(checked.value);
  if (problems.length > 0) throw problemsError(problems);
  return checked.value;
}

/** The decision to write an entry. */
export function put<Of extends Source | Destination>(
  current: ConfigSnapshot,
  write: Entry & { readonly entry: Of },
): Decision<ChangedEntry<Of>> {
  return { ...keep(current, write.kind, write.entry), writes: [write] };
}

/** The decision to leave an entry as it is. */
export function keep<Of extends Source | Destination>(
  current: ConfigSnapshot,
  kind: EntryKind,
  entry: Of,
): Decision<ChangedEntry<Of>> {
  return { writes: [], result: { kind, entry, versionBefore: current.version(kind, entry.id) } };
}

/** Sets the ETag of the entry, and returns the entry. */
export function answerEntry<Of extends Source | Destination>(
  reply: FastifyReply,
  { result: { kind, entry, versionBefore }, version }: Changed<ChangedEntry<Of>>,
): Of {
  reply.header('etag', etagOf(version(kind, entry.id) ?? versionBefore));
  return entry;
}

/** @param version the offset of the entry's last record */
export function etagOf(version: number | undefined): string {
  return `"${version ?? ''}"`;
}

/**
 * `body` with the id of the path. A body that is not an object is returned unchanged: validation refuses it.
 *
 * @throws TailraceError `invalid-configuration` where the body has another id
 */
export function withId(body: unknown, id: string): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const { id: given = id } = body as { readonly id?: unknown };
  if (given === id) return { ...body, id };
  throw problemsError([
    { path: ['id'], message: `is not ${JSON.stringify(id)}, the id in the path`, about: 'value' },
  ]);
}

/** `body` with defaults for its missing fields. A body that is not an object is returned unchanged. */
export function withDefaults(body: unknown, defaults: () => object): unknown {
  if (body === undefined || body === null) return defaults();
  if (typeof body !== 'object' || Array.isArray(body)) return body;
  return { ...defaults(), ...body };
}

/** The id in a body that is not validated yet, shortened for the audit log. */
export function idOf(body: unknown): string {
  const { id } = body as { readonly id?: unknown };
  return typeof id === 'string' ? id.slice(0, 64) : '';
}
