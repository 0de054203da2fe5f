/** Lists of users in requests, which suppress them or delete them. */
import { maxIdLength } from '@tailrace/events';
import Type from 'typebox';
import { invalidField } from '../http/errors.ts';

const maxUsers = 1_000;
export const maxBodyBytes = 512 * 1024;

export const userIdsSchema = Type.Array(
  Type.String({ minLength: 1, maxLength: maxIdLength, description: 'a text of 1 to 1,024 characters' }),
  { minItems: 1, maxItems: maxUsers, description: 'a list of 1 to 1,000 user ids' },
);

/** @throws TailraceError `invalid-request` */
export function requireWellFormed(userIds: readonly string[]): void {
  const malformed = userIds.findIndex((userId) => !userId.isWellFormed());
  if (malformed >= 0) throw invalidField(`userIds[${malformed}]`, 'has half a surrogate pair');
}
