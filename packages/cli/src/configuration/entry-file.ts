/** An entry from a file, for `tailrace create -f`. */
import { formatPath, resolveEntry } from '@tailrace/config';
import { parse as parseYaml } from 'yaml';
import { UsageError, type CommandContext } from '../command.ts';
import { readText } from '../read-text.ts';
import { referencesOf } from './references.ts';

type EntryKind = 'source' | 'destination' | 'notification';

/**
 * Reads YAML or JSON, and replaces references to secrets; `-` is standard input. The service validates the content.
 *
 * @throws UsageError
 */
export async function readEntry(
  kind: EntryKind,
  file: string,
  context: Pick<CommandContext, 'input' | 'env'>,
): Promise<unknown> {
  let entry: unknown;
  try {
    entry = parseYaml(await readText(file, context));
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
  const { value, problems } = resolveEntry(kind, onlyEntry(kind, entry), referencesOf(context, file));
  if (problems.length === 0) return value;
  const lines = problems.map(({ path, message }) => `${formatPath(path)}: ${message}`);
  throw new UsageError(`${file}: ${lines.join('; ')}`);
}

/** The entry itself, or the only entry of a file for `tailrace apply`, such as `tailrace get -o yaml` writes. */
function onlyEntry(kind: EntryKind, content: unknown): unknown {
  if (typeof content !== 'object' || content === null) return content;
  const { [`${kind}s`]: list, ...others } = content as Readonly<Record<string, unknown>>;
  const isFile = Array.isArray(list) && list.length === 1 && Object.keys(others).length === 0;
  return isFile ? list[0] : content;
}
