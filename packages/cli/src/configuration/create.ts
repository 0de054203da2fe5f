/** `tailrace create source` and `tailrace create destination`. */
import type { Destination, Source } from '@tailrace/config';
import type { ApiContext } from '../api/client.ts';
import { done } from '../api/show.ts';
import { UsageError, type CommandContext, type Outcome } from '../command.ts';
import type { DestinationValues, SourceValues } from '../entry-options.ts';
import { applyEdits } from '../update/field-edits.ts';
import { destinationEdits, sourceEdits } from '../update/option-edits.ts';
import { headersOf } from './destination-options.ts';
import { readEntry } from './entry-file.ts';

interface NewEntry {
  readonly id?: string;
  readonly disabled?: boolean;
  /** Replaces all other values. */
  readonly file?: string;
}

export async function createSource(values: SourceValues & NewEntry, context: ApiContext): Promise<Outcome> {
  const { file } = values;
  const entry = file === undefined ? sourceOf(values) : await readEntry('source', file, context);
  const created = await context.api.send<Source>('POST', '/v1/sources', entry);
  const { id, writeKeys } = created;
  const keys = `Write ${writeKeys.length === 1 ? 'key' : 'keys'}: ${writeKeys.join(', ')}`;
  return done([`The source ${id} is created.`, keys], created);
}

function sourceOf({ id, disabled, ...values }: SourceValues & NewEntry) {
  return applyEdits({ id, ...(disabled && { enabled: false }) }, sourceEdits(values));
}

type NewDestination = DestinationValues & NewEntry & { readonly type?: string };

export async function createDestination(values: NewDestination, context: ApiContext): Promise<Outcome> {
  const { file } = values;
  const entry =
    file === undefined ? await destinationOf(values, context) : await readEntry('destination', file, context);
  const created = await context.api.send<Destination>('POST', '/v1/destinations', entry);
  const sources = created.sources.length === 0 ? 'no source yet' : created.sources.join(', ');
  return done(
    [
      `The destination ${created.id} is created and ${created.enabled ? 'enabled' : 'disabled'}.`,
      `It gets the events of ${sources}.`,
    ],
    created,
  );
}

async function destinationOf(values: NewDestination, context: CommandContext) {
  const { id, disabled, type = 'Webhooks', url: urls } = values;
  if (!urls) throw new UsageError("required option '--url <url>' not specified");
  const headers = headersOf(values, context);
  const settings = { webhooks: urls.map((url) => ({ url, ...headers })) };
  const entry = { id, type, ...(disabled && { enabled: false }), sources: [], settings };
  return applyEdits(entry, await destinationEdits(values, context));
}
