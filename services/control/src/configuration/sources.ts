/** How a change loads and validates a source. */
import { randomBytes } from 'node:crypto';
import { checkSource, type ConfigSnapshot, type Problem, type Source } from '@tailrace/config';
import { entryNotFound, requireValid } from './entries.ts';

/** @throws TailraceError `not-found` */
export function loadSource(current: Pick<ConfigSnapshot, 'source'>, id: string): Source {
  const source = current.source(id);
  if (!source) throw entryNotFound('source', id);
  return source;
}

/** @throws TailraceError `invalid-configuration`, also where another source has one of the write keys */
export function validSource(wanted: unknown, current: ConfigSnapshot): Source {
  return requireValid(checkSource(wanted), ({ id, writeKeys }) =>
    writeKeys.flatMap((key, position): Problem[] => {
      const owner = current.sourceByWriteKey(key);
      if (!owner || owner.id === id) return [];
      const message = `is already a write key of the source ${JSON.stringify(owner.id)}`;
      return [{ path: ['writeKeys', position], message, about: 'value' }];
    }),
  );
}

/** 144 random bits. */
export function newWriteKey(): string {
  return `wk_${randomBytes(18).toString('base64url')}`;
}
