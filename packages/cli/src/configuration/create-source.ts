/** `tailrace create source`. */
import type { Source } from '@tailrace/config';
import { openApi } from '../api/client.ts';
import type { Run } from '../command.ts';
import { readEntry } from './entry-file.ts';

interface Values {
  readonly id?: string;
  readonly name?: string;
  readonly disabled?: boolean;
  readonly writeKey?: readonly string[];
  readonly block?: readonly string[];
  readonly rateLimit?: number;
  readonly rateLimitBytes?: number;
  readonly addIp?: boolean;
  /** Replaces all of the above. */
  readonly file?: string;
}

export const createSource: Run<Values> = async (values, context) => {
  const entry = values.file === undefined ? entryOf(values) : await readEntry('source', values.file, context);
  const created = await openApi(context).send<Source>('POST', '/v1/sources', entry);
  return {
    text: [
      `The source ${created.id} is created.`,
      `Write ${created.writeKeys.length === 1 ? 'key' : 'keys'}: ${created.writeKeys.join(', ')}`,
    ],
    json: created,
  };
};

function entryOf(values: Values) {
  const {
    id,
    name,
    disabled,
    writeKey: writeKeys,
    block: blocked,
    rateLimit,
    rateLimitBytes,
    addIp,
  } = values;
  return {
    id,
    name,
    ...(writeKeys && { writeKeys }),
    ...(disabled && { enabled: false }),
    ...(blocked && { schema: { track: { blocked } } }),
    rateLimit,
    rateLimitBytes,
    addIp,
  };
}
