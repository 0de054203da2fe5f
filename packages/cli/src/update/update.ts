/** `tailrace update`: changes fields of an entry. */
import { isTailraceError } from '@tailrace/errors';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { done } from '../api/show.ts';
import { UsageError, type CommandContext, type Outcome } from '../command.ts';
import type { DestinationValues, SourceValues } from '../entry-options.ts';
import { headersOf, resolveValue } from '../configuration/destination-options.ts';
import { applyEdits, parseEdit, parsePath, type FieldEdit } from './field-edits.ts';
import { destinationEdits, sourceEdits } from './option-edits.ts';

interface EditValues {
  readonly id: string;
  /** `field=value` */
  readonly set?: readonly string[];
  readonly unset?: readonly string[];
}

type Entry = Readonly<Record<string, unknown>>;

/** Changes by others in the same moment. */
const mostTries = 5;

export function updateSource(values: SourceValues & EditValues, context: ApiContext): Promise<Outcome> {
  const edits = [...sourceEdits(values), ...anyEdits(values, context)];
  return update('source', values.id, edits, context);
}

export async function updateDestination(
  values: DestinationValues & EditValues,
  context: ApiContext,
): Promise<Outcome> {
  const { url: urls } = values;
  const { headers, secretHeaders } = headersOf(values, context);
  const webhook = { ...(headers && { headers }), ...(secretHeaders && { secretHeaders }) };
  const changesWebhooks = urls !== undefined || headers !== undefined;
  const webhooksEdit = (entry: Entry): FieldEdit => {
    const { webhooks = [] } = (entry['settings'] ?? {}) as { webhooks?: readonly { readonly url: string }[] };
    // An URL that stays keeps its headers, unless others are given.
    const wanted = (urls ?? webhooks.map(({ url }) => url)).map((url) => ({
      ...(webhooks.find((one) => one.url === url) ?? { url }),
      ...webhook,
    }));
    return { path: ['settings', 'webhooks'], value: wanted };
  };
  const fixed = [...(await destinationEdits(values, context)), ...anyEdits(values, context)];
  const edits = changesWebhooks ? [webhooksEdit, ...fixed] : fixed;
  return update('destination', values.id, edits, context);
}

export function updateNotification(values: EditValues, context: ApiContext): Promise<Outcome> {
  return update('notification', values.id, anyEdits(values, context), context);
}

function anyEdits({ set = [], unset = [] }: EditValues, context: CommandContext): FieldEdit[] {
  return [
    ...set.map((text) => parseEdit(text, (value) => resolveValue('--set', value, context))),
    ...unset.map((text) => ({ path: parsePath(text), value: undefined })),
  ];
}

async function update(
  kind: 'source' | 'destination' | 'notification',
  id: string,
  edits: readonly (FieldEdit | ((entry: Entry) => FieldEdit))[],
  { api }: ApiContext,
): Promise<Outcome> {
  if (edits.length === 0) throw new UsageError('no field to change; name one with an option, or with --set');
  const path = pathOf(`${kind}s`, id);
  for (let tries = 1; ; tries += 1) {
    const { entry, version } = await api.getVersion(path);
    const wanted = edits.map((edit) => (typeof edit === 'function' ? edit(entry as Entry) : edit));
    try {
      const updated = await api.replace<Entry>(path, applyEdits(entry, wanted), version);
      return done(`The ${kind} ${id} is updated.`, updated);
    } catch (error) {
      if (!isTailraceError(error, 'precondition-failed') || tries >= mostTries) throw error;
    }
  }
}
