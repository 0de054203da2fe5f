/**
 * What every change of a source or a destination has in common: it is decided on the version that the client saw, checked
 * with the rules that a file is checked with, and answered with the version that it became.
 */
import {
  problemsError,
  type Changed,
  type Checked,
  type ConfigSnapshot,
  type Destination,
  type Entry,
  type EntryKind,
  type Problem,
  type Source,
} from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ControlDeps } from '../http/routes.ts';

export interface EntryName {
  readonly kind: EntryKind;
  readonly id: string;
}

/** What a change leaves: the entry and its version, which is that of before where nothing was written. */
export interface Left<Of> {
  readonly entry: Of;
  readonly versionBefore: number | undefined;
}

export function nothingThere({ kind, id }: EntryName): TailraceError {
  return new TailraceError('not-found', `There is no ${kind} ${JSON.stringify(id)}.`);
}

/** @throws TailraceError `precondition-failed` where the request has an If-Match that the entry does not meet */
export function checkPrecondition(request: FastifyRequest, current: ConfigSnapshot, name: EntryName): void {
  const wanted = request.headers['if-match'];
  if (wanted === undefined || wanted.trim() === '*') return;
  const present = etagOf(current.version(name.kind, name.id));
  const tags = wanted.split(',').map((tag) => tag.trim());
  if (!tags.includes(present)) throw new TailraceError('precondition-failed');
}

/** @throws TailraceError `invalid-configuration` with every problem */
export function valid<T>(checked: Checked<T>, problemsBeyond: (value: T) => readonly Problem[]): T {
  if ('problems' in checked) throw problemsError(checked.problems);
  const problems = problemsBeyond(checked.value);
  if (problems.length > 0) throw problemsError(problems);
  return checked.value;
}

/** Sets the ETag that `changed` led to, and gives the entry. */
export function answerChanged<Of>(
  reply: FastifyReply,
  { kind, id }: EntryName,
  { result, version }: Changed<Left<Of>>,
): Of {
  reply.header('etag', etagOf(version(kind, id) ?? result.versionBefore));
  return result.entry;
}

/** A decision that writes `entry` in the place of what is there. */
export function written<Of>(
  current: ConfigSnapshot,
  write: Entry & { readonly entry: Of },
): { writes: Entry[]; result: Left<Of> } {
  return {
    writes: [write],
    result: { entry: write.entry, versionBefore: current.version(write.kind, write.id) },
  };
}

/** A change of an entry that is there. */
export interface EntryChange<Of extends Source | Destination> {
  readonly name: EntryName;
  /** For the audit log. */
  readonly action: string;
  readonly find: (current: ConfigSnapshot) => Of | undefined;
  /** What is to be in its place; the very same, where it is to be left as it is. */
  readonly next: (stored: Of, current: ConfigSnapshot) => unknown;
  /** @throws TailraceError `invalid-configuration` */
  readonly write: (wanted: unknown, stored: Of, current: ConfigSnapshot) => Entry & { readonly entry: Of };
}

/** Puts what `next` makes of the entry in its place, sets the ETag, and gives what is there then. */
export async function changeEntry<Of extends Source | Destination>(
  { config, audit }: Pick<ControlDeps, 'config' | 'audit'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { name, action, find, next, write }: EntryChange<Of>,
): Promise<Of> {
  audit(request, { action, target: `${name.kind}/${name.id}` });
  const changed = await config.change<Left<Of>>((current) => {
    const stored = find(current);
    if (!stored) throw nothingThere(name);
    checkPrecondition(request, current, name);
    const wanted = next(stored, current);
    if (wanted === stored) return leftAsIs(current, name, stored);
    return written<Of>(current, write(wanted, stored, current));
  });
  return answerChanged(reply, name, changed);
}

/** A decision that leaves everything as it is. */
function leftAsIs<Of>(
  current: ConfigSnapshot,
  { kind, id }: EntryName,
  entry: Of,
): { writes: Entry[]; result: Left<Of> } {
  return { writes: [], result: { entry, versionBefore: current.version(kind, id) } };
}

/** Of an entry, the offset of its last record. */
export function etagOf(version: number | undefined): string {
  return `"${version ?? ''}"`;
}

/** The path says which entry it is; a body may repeat it, and not say otherwise. */
export function withId(body: unknown, id: string): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const { id: given = id } = body as { readonly id?: unknown };
  if (given === id) return { ...body, id };
  throw problemsError([
    { path: ['id'], message: `is not ${JSON.stringify(id)}, as in the path`, about: 'value' },
  ]);
}

/** `body` with what it leaves out; anything but an object is as it was, for the rules to refuse. */
export function withDefaults(body: unknown, defaults: () => object): unknown {
  if (body === undefined || body === null) return defaults();
  if (typeof body !== 'object' || Array.isArray(body)) return body;
  return { ...defaults(), ...body };
}

/** The id that `wanted` gives itself, as far as it may go into the audit log. */
export function idOf(wanted: unknown): string {
  const { id } = wanted as { readonly id?: unknown };
  return typeof id === 'string' ? id.slice(0, 64) : '';
}
