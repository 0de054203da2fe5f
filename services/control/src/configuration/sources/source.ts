/** How a change loads and validates a source. */
import { randomBytes } from 'node:crypto';
import {
  builtInSource,
  builtInSourceRule,
  checkSource,
  maskSource,
  shortWriteKeys,
  type ConfigEditor,
  type ConfigSnapshot,
  type Problem,
  type Source,
} from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import type { Role } from '../../access/authenticate.ts';
import { reachesSource } from '../../access/limits.ts';
import { currentRequest } from '../../audit/context.ts';
import { isMaskedFor } from '../../access/mask.ts';
import { entryNotFound } from '../../http/errors.ts';
import { entriesOf, requireValid } from '../entry/change.ts';

/** @throws TailraceError `not-found` */
export function loadSource(current: Pick<ConfigSnapshot, 'source'>, id: string): Source {
  const source = current.source(id);
  if (!source) throw entryNotFound('source', id);
  return source;
}

/** The stored sources and the built-in one, by id. */
export function withBuiltIn(current: Pick<ConfigSnapshot, 'source' | 'sources'>): readonly Source[] {
  const stored = current.sources().filter(({ id }) => id !== builtInSource.id);
  const builtIn = current.source(builtInSource.id);
  return [...stored, ...(builtIn ? [builtIn] : [])].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * For a change of the source.
 *
 * @throws TailraceError `not-found`; `conflict` for the built-in source
 */
function loadStoredSource(current: Pick<ConfigSnapshot, 'source' | 'version'>, id: string): Source {
  const source = loadSource(current, id);
  if (id !== builtInSource.id || current.version('source', id) !== undefined) return source;
  throw new TailraceError('conflict', `The source ${JSON.stringify(id)} is built in and cannot be changed.`);
}

export const sourceEntries = (config: ConfigEditor) =>
  entriesOf(config, {
    kind: 'source',
    load: loadStoredSource,
    valid: (wanted, _stored, current) => validSource(wanted, current),
    show: showSource,
  });

/** @throws TailraceError `invalid-configuration`, also where another source has one of the write keys */
export function validSource(wanted: unknown, current: ConfigSnapshot): Source {
  return requireValid(checkSource(wanted), (source) => [
    ...shortWriteKeys(source, current.source(source.id)),
    ...(source.id === builtInSource.id
      ? [{ path: ['id'], message: builtInSourceRule, about: 'value' } as const]
      : []),
    ...source.writeKeys.flatMap((key, position): Problem[] => {
      const owner = current.sourceByWriteKey(key);
      if (!owner || owner.id === source.id) return [];
      const shown = reachesSource(currentRequest()?.caller, owner.id)
        ? `the source ${JSON.stringify(owner.id)}`
        : 'another source';
      const message = `is already a write key of ${shown}`;
      return [{ path: ['writeKeys', position], message, about: 'value' }];
    }),
  ]);
}

/** A read-only token sees no write keys: with one, it could send calls. */
export function showSource(source: Source, role: Role | undefined): Source {
  return isMaskedFor(role) ? maskSource(source) : source;
}

/** 144 random bits. */
export function newWriteKey(): string {
  return `wk_${randomBytes(18).toString('base64url')}`;
}
