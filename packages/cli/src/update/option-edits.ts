/** The fields of sources and destinations that options name, for `create` and `update`. */
import type { CommandContext } from '../command.ts';
import { readSecret } from '../configuration/destination-options.ts';
import type { DestinationValues, SourceValues } from '../entry-options.ts';
import { parsePath, type FieldEdit } from './field-edits.ts';

export function sourceEdits(values: SourceValues): FieldEdit[] {
  const { name, writeKey, block, rateLimit, rateLimitBytes, addIp } = values;
  return given({
    name,
    writeKeys: writeKey,
    'schema.track.blocked': block,
    rateLimit,
    rateLimitBytes,
    addIp,
  });
}

/** All but the webhooks, which `create` makes and `update` changes. @throws UsageError */
export async function destinationEdits(
  { name, source, rateLimit, ordering, secret }: DestinationValues,
  context: CommandContext,
): Promise<FieldEdit[]> {
  const sharedSecret = await readSecret(secret, context);
  return given({ name, sources: source, rateLimit, ordering, 'settings.sharedSecret': sharedSecret });
}

function given(fields: Readonly<Record<string, unknown>>): FieldEdit[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => ({ path: parsePath(field), value }));
}
