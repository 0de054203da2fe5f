/** What the routes of sources, destinations and notifications share: how an entry is created, shown, changed and deleted. */
import {
  problemsError,
  type Changed,
  type Checked,
  type ConfigEditor,
  type ConfigSnapshot,
  type Destination,
  type Entry,
  type Notification,
  type Problem,
  type Source,
} from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Role } from '../../access/authenticate.ts';
import { audit } from '../../http/audit.ts';
import { entryNotFound } from '../../http/errors.ts';
import { mergePatch } from './merge-patch.ts';

type AnyEntry = Source | Destination | Notification;

export interface EntryRules<Of extends AnyEntry> {
  readonly kind: 'source' | 'destination' | 'notification';
  /** For a change. @throws TailraceError `not-found`, `conflict` */
  readonly load: (current: ConfigSnapshot, id: string) => Of;
  /**
   * @param stored undefined for a new entry
   * @throws TailraceError `invalid-configuration`
   */
  readonly valid: (wanted: unknown, stored: Of | undefined, current: ConfigSnapshot) => Of;
  readonly show: (entry: Of, role: Role | undefined) => Of;
  /**
   * Finds problems of a body that `valid` cannot find at once.
   *
   * @throws TailraceError `invalid-configuration`
   */
  readonly check?: ((request: FastifyRequest, stored: Of | undefined) => Promise<void>) | undefined;
}

/** An entry after a request, as it is shown to the caller, and whether it was written. */
interface ChangedEntry<Of> {
  readonly entry: Of;
  readonly shown: Of;
  readonly isWritten: boolean;
}

/** The work of the routes of one kind of entries. Each sets the ETag of its answer. */
export function entriesOf<Of extends AnyEntry>(
  config: Pick<ConfigEditor, 'change' | 'source' | 'destination' | 'notification' | 'version'>,
  { kind, load, valid, show, check }: EntryRules<Of>,
) {
  const setEtag = (reply: FastifyReply, version: number | undefined): void => {
    reply.header('etag', etagOf(version));
  };

  /**
   * Changes the entry of the path, if it has the version that the request wants.
   *
   * @param verb completes the action in the audit log: `update` of `source.update`
   * @param change returns the new entry, or the stored one where nothing is to be written
   * @throws TailraceError `precondition-failed`, and as `load` and `change`
   */
  const change = async (
    request: FastifyRequest,
    reply: FastifyReply,
    verb: string,
    change: (stored: Of, current: ConfigSnapshot) => Of,
  ): Promise<ChangedEntry<Of>> => {
    const id = idIn(request);
    audit(request, `${kind}.${verb}`, `${kind}/${id}`);
    const found = config[kind](id) as Of | undefined;
    if (found) await check?.(request, found);
    const { result, version } = await config.change((current) => {
      const stored = load(current, id);
      const before = current.version(kind, id);
      checkPrecondition(request, before);
      const entry = change(stored, current);
      return { writes: entry === stored ? [] : [{ kind, id, entry } as Entry], result: { entry, before } };
    });
    const written = version(kind, id);
    setEtag(reply, written ?? result.before);
    const { entry } = result;
    return { entry, shown: show(entry, request.role), isWritten: written !== undefined };
  };

  const changeAndShow = async (...of: Parameters<typeof change>): Promise<Of> => (await change(...of)).shown;

  return {
    change,
    changeAndShow,
    get(request: FastifyRequest, reply: FastifyReply): Of {
      const id = idIn(request);
      const found = config[kind](id);
      if (!found) throw entryNotFound(kind, id);
      setEtag(reply, config.version(kind, id));
      return show(found as Of, request.role);
    },
    /** @param defaults for the fields that the body lacks */
    async create(request: FastifyRequest, reply: FastifyReply, defaults: object): Promise<Of> {
      const wanted = withDefaults(request.body, defaults);
      audit(request, `${kind}.create`, `${kind}/${idOf(wanted)}`);
      await check?.(request, undefined);
      const { result, version }: Changed<Of> = await config.change((current) => {
        const entry = valid(wanted, undefined, current);
        const { id } = entry;
        if (current[kind](id)) {
          throw new TailraceError('conflict', `There is already a ${kind} ${JSON.stringify(id)}.`);
        }
        return { writes: [{ kind, id, entry } as Entry], result: entry };
      });
      setEtag(reply, version(kind, result.id));
      reply.status(201).header('location', `/v1/${kind}s/${result.id}`);
      return show(result, request.role);
    },
    replace: (request: FastifyRequest, reply: FastifyReply): Promise<Of> =>
      changeAndShow(request, reply, 'replace', (stored, current) =>
        valid(withId(request.body, stored.id), stored, current),
      ),
    update: (request: FastifyRequest, reply: FastifyReply): Promise<Of> =>
      changeAndShow(request, reply, 'update', (stored, current) => {
        const merged = mergePatch(show(stored, request.role), request.body);
        return valid(withId(merged, stored.id), stored, current);
      }),
    /** @param othersOf the other entries that are written with it */
    async remove(
      request: FastifyRequest,
      reply: FastifyReply,
      othersOf: (current: ConfigSnapshot) => readonly Entry[] = () => [],
    ): Promise<FastifyReply> {
      const id = idIn(request);
      audit(request, `${kind}.delete`, `${kind}/${id}`);
      await config.change((current) => {
        load(current, id);
        checkPrecondition(request, current.version(kind, id));
        return { writes: [...othersOf(current), { kind, id, entry: null }], result: undefined };
      });
      return reply.status(204).send();
    },
  };
}

function idIn({ params }: FastifyRequest): string {
  return (params as { readonly id: string }).id;
}

/**
 * Compares the request's If-Match with the version of an entry.
 *
 * @throws TailraceError `precondition-failed`
 */
function checkPrecondition(request: FastifyRequest, version: number | undefined): void {
  const ifMatch = request.headers['if-match'];
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (!tags.includes(etagOf(version))) throw new TailraceError('precondition-failed');
}

/** @param version the offset of the entry's last record */
function etagOf(version: number | undefined): string {
  return `"${version ?? ''}"`;
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

/**
 * `body` with the id of the path. A body that is not an object is returned unchanged: validation refuses it.
 *
 * @throws TailraceError `invalid-configuration` where the body has another id
 */
function withId(body: unknown, id: string): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const { id: given = id } = body as { readonly id?: unknown };
  if (given === id) return { ...body, id };
  throw problemsError([
    { path: ['id'], message: `is not ${JSON.stringify(id)}, the id in the path`, about: 'value' },
  ]);
}

/** `body` with defaults for its missing fields. A body that is not an object is returned unchanged. */
function withDefaults(body: unknown, defaults: object): unknown {
  if (body === undefined || body === null) return defaults;
  if (typeof body !== 'object' || Array.isArray(body)) return body;
  return { ...defaults, ...body };
}

/** The id in a body that is not validated yet, shortened for the audit log. */
function idOf(body: unknown): string {
  const { id } = body as { readonly id?: unknown };
  return typeof id === 'string' ? id.slice(0, 64) : '';
}
