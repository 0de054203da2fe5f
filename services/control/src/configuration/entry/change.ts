/** The steps that every change of a source or a destination shares: precondition, validation, write, and answer. */
import {
  problemsError,
  type Changed,
  type Checked,
  type ConfigEditor,
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
import { audit } from '../../http/audit.ts';

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
  const { kind, id, entry } = write;
  return { writes: [write], result: { kind, entry, versionBefore: current.version(kind, id) } };
}

/** An entry after a request, and whether it was written. */
type ChangeEntry<Of> = (
  request: FastifyRequest,
  reply: FastifyReply,
  verb: string,
  change: (stored: Of, current: ConfigSnapshot) => Of,
) => Promise<{ readonly entry: Of; readonly isWritten: boolean }>;

/**
 * Returns a function that changes the entry of a path, if it has the version that the request wants, and sets the ETag of the answer.
 * Its `verb` completes the action in the audit log: `update` of `source.update`. Its `change` returns the new entry, or the stored one
 * where nothing is to be written.
 *
 * @throws TailraceError (the function) `precondition-failed`, and as `load` and `change`
 */
export function changesOf<Of extends Source | Destination>(
  config: Pick<ConfigEditor, 'change'>,
  kind: EntryKind,
  load: (current: ConfigSnapshot, id: string) => Of,
): ChangeEntry<Of> {
  return async (request, reply, verb, change) => {
    const { id } = request.params as { readonly id: string };
    audit(request, `${kind}.${verb}`, `${kind}/${id}`);
    const changed = await config.change((current) => {
      const stored = load(current, id);
      checkPrecondition(request, current.version(kind, id));
      const entry = change(stored, current);
      const result = { kind, entry, versionBefore: current.version(kind, id) };
      return { writes: entry === stored ? [] : [{ kind, id, entry } as Entry], result };
    });
    return { entry: answerEntry(reply, changed), isWritten: changed.version(kind, id) !== undefined };
  };
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
