/** `tailrace create destination`. */
import type { Destination } from '@tailrace/config';
import { openApi } from '../api/client.ts';
import { UsageError, type CommandContext, type Run } from '../command.ts';
import { printable } from '../terminal/table.ts';
import { headersOf, readSecret } from './destination-options.ts';
import { readEntry } from './entry-file.ts';

interface Values {
  readonly id?: string;
  readonly name?: string;
  readonly disabled?: boolean;
  readonly type?: string;
  readonly url?: readonly string[];
  readonly header?: readonly string[];
  readonly secretHeader?: readonly string[];
  readonly secret?: string;
  readonly source?: readonly string[];
  readonly rateLimit?: number;
  readonly ordering?: string;
  /** Replaces all of the above. */
  readonly file?: string;
}

export const createDestination: Run<Values> = async (values, context) => {
  const entry =
    values.file === undefined
      ? await entryOf(values, context)
      : await readEntry('destination', values.file, context);
  const created = await openApi(context).send<Destination>('POST', '/v1/destinations', entry);
  const sources = created.sources.length === 0 ? 'no source yet' : created.sources.join(', ');
  return {
    text: [
      printable(`The destination ${created.id} is created, and switched ${created.enabled ? 'on' : 'off'}.`),
      printable(`It gets the events of ${sources}.`),
    ],
    json: created,
  };
};

async function entryOf(values: Values, context: CommandContext) {
  const { id, name, disabled, type = 'Webhooks', url: urls, source: sources = [], ordering } = values;
  if (!urls) throw new UsageError("required option '--url <url>' not specified");
  const headers = headersOf(values, context);
  return {
    id,
    type,
    name,
    ...(disabled && { enabled: false }),
    sources,
    rateLimit: values.rateLimit,
    ordering,
    settings: {
      sharedSecret: await readSecret(values.secret, context),
      webhooks: urls.map((url) => ({
        url,
        ...headers,
      })),
    },
  };
}
