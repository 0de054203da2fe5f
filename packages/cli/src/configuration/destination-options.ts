/** Values of options for destinations: headers and secrets, which may be references such as `env:NAME`. */
import { text as textOf } from 'node:stream/consumers';
import { resolveReference } from '@tailrace/config';
import { UsageError, type CommandContext } from '../command.ts';
import { referencesOf } from './references.ts';

interface HeaderValues {
  readonly header?: readonly string[];
  readonly secretHeader?: readonly string[];
}

/** The headers of both options, and the names of the secret ones; undefined where there are none. @throws UsageError */
export function headersOf(
  { header = [], secretHeader = [] }: HeaderValues,
  context: CommandContext,
): {
  readonly headers?: Readonly<Record<string, string>>;
  readonly secretHeaders?: readonly string[];
} {
  const secret = secretHeader.map((text) => parseHeader('--secret-header', text, context));
  const headers = [...header.map((text) => parseHeader('--header', text, context)), ...secret];
  return {
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(secret.length > 0 && { secretHeaders: secret.map(([name]) => name) }),
  };
}

/** `text` is `Name: value`; the value may be a reference. */
function parseHeader(option: string, text: string, context: CommandContext): [name: string, value: string] {
  const [, name, value] = /^([^:]+?)\s*:\s*(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new UsageError(`${option} must be a name and a value, such as 'X-Team: growth'`);
  }
  return [name, resolveValue(option, value, context)];
}

/** @throws UsageError where a reference cannot be resolved */
export function resolveValue(option: string, text: string, context: CommandContext): string {
  const resolved = resolveReference(text, referencesOf(context));
  if ('why' in resolved) throw new UsageError(`${option}: ${resolved.why}`);
  return resolved.value;
}

/** The value of --secret; `-` is the first line of standard input. @throws UsageError */
export async function readSecret(
  secret: string | undefined,
  context: CommandContext,
): Promise<string | undefined> {
  if (secret === undefined) return undefined;
  if (secret !== '-') return resolveValue('--secret', secret, context);
  const [line = ''] = (await textOf(context.input())).split(/\r?\n/, 1);
  if (line === '') throw new UsageError('--secret: standard input is empty');
  return line;
}
