/** `tailrace update`: changes fields of a source or a destination. */
import { isTailraceError } from '@tailrace/errors';
import { openApi, pathOf } from '../api/client.ts';
import { UsageError, type CommandContext, type Run } from '../command.ts';
import { printable } from '../terminal/table.ts';
import { headersOf, readSecret, resolveValue } from '../configuration/destination-options.ts';
import { applyEdits, parseEdit, parsePath, type FieldEdit } from './field-edits.ts';

interface CommonValues {
  readonly id: string;
  readonly name?: string;
  readonly rateLimit?: number;
  /** `field=value` */
  readonly set?: readonly string[];
  readonly unset?: readonly string[];
}

interface SourceValues extends CommonValues {
  readonly writeKey?: readonly string[];
  readonly block?: readonly string[];
  readonly rateLimitBytes?: number;
  readonly addIp?: boolean;
}

interface DestinationValues extends CommonValues {
  readonly url?: readonly string[];
  readonly header?: readonly string[];
  readonly secretHeader?: readonly string[];
  readonly secret?: string;
  readonly source?: readonly string[];
  readonly ordering?: string;
}

type Entry = Readonly<Record<string, unknown>>;

/** Changes by others in the same moment. */
const mostTries = 5;

export const updateSource: Run<SourceValues> = (values, context) => {
  const { writeKey, block, rateLimitBytes, addIp } = values;
  const edits = [
    ...(writeKey ? [{ path: ['writeKeys'], value: writeKey }] : []),
    ...(block ? [{ path: ['schema', 'track', 'blocked'], value: block }] : []),
    ...(rateLimitBytes === undefined ? [] : [{ path: ['rateLimitBytes'], value: rateLimitBytes }]),
    ...(addIp === undefined ? [] : [{ path: ['addIp'], value: addIp }]),
    ...commonEdits(values, context),
  ];
  return update('source', values.id, () => edits, edits.length > 0, context);
};

export const updateDestination: Run<DestinationValues> = async (values, context) => {
  const { url: urls, source: sources, ordering, secret } = values;
  const { headers, secretHeaders } = headersOf(values, context);
  const sharedSecret = await readSecret(secret, context);
  const webhook = {
    ...(headers && { headers }),
    ...(secretHeaders && { secretHeaders }),
  };
  const changesWebhooks = urls !== undefined || headers !== undefined;
  const fixed: FieldEdit[] = [
    ...(sources ? [{ path: ['sources'], value: sources }] : []),
    ...(ordering === undefined ? [] : [{ path: ['ordering'], value: ordering }]),
    ...(sharedSecret === undefined ? [] : [{ path: ['settings', 'sharedSecret'], value: sharedSecret }]),
    ...commonEdits(values, context),
  ];
  const editsOf = (entry: Entry): FieldEdit[] => {
    if (!changesWebhooks) return fixed;
    const { webhooks = [] } = (entry['settings'] ?? {}) as { webhooks?: readonly { readonly url: string }[] };
    // An URL that stays keeps its headers, unless others are given.
    const wanted = (urls ?? webhooks.map(({ url }) => url)).map((url) => ({
      ...(webhooks.find((one) => one.url === url) ?? { url }),
      ...webhook,
    }));
    return [{ path: ['settings', 'webhooks'], value: wanted }, ...fixed];
  };
  return update('destination', values.id, editsOf, changesWebhooks || fixed.length > 0, context);
};

function commonEdits(
  { name, rateLimit, set = [], unset = [] }: CommonValues,
  context: CommandContext,
): FieldEdit[] {
  return [
    ...(name === undefined ? [] : [{ path: ['name'], value: name }]),
    ...(rateLimit === undefined ? [] : [{ path: ['rateLimit'], value: rateLimit }]),
    ...set.map((text) => parseEdit(text, (value) => resolveValue('--set', value, context))),
    ...unset.map((text) => ({ path: parsePath(text), value: undefined })),
  ];
}

async function update(
  kind: 'source' | 'destination',
  id: string,
  editsOf: (entry: Entry) => readonly FieldEdit[],
  hasEdits: boolean,
  context: CommandContext,
) {
  const api = openApi(context);
  if (!hasEdits) throw new UsageError('no field to change; name one with an option, or with --set');
  const path = pathOf(`${kind}s`, id);
  for (let tries = 1; ; tries += 1) {
    const { entry, version } = await api.getVersion(path);
    try {
      const updated = await api.replace<Entry>(path, applyEdits(entry, editsOf(entry as Entry)), version);
      return { text: [printable(`The ${kind} ${id} is updated.`)], json: updated };
    } catch (error) {
      if (!isTailraceError(error, 'precondition-failed') || tries >= mostTries) throw error;
    }
  }
}
