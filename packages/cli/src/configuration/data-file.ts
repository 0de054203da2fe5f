/** A file with data of any form, as the commands that try something read it. */
import { parseJson } from '@tailrace/events';
import { parse as parseYaml } from 'yaml';
import type { ApiContext } from '../api/client.ts';
import { UsageError } from '../command.ts';
import { readText } from '../read-text.ts';

/** YAML or JSON; `-` is standard input. @throws UsageError */
export async function readData(file: string, context: Pick<ApiContext, 'input'>): Promise<unknown> {
  try {
    const text = await readText(file, context);
    return isJson(text) ? parseJson(text) : parseYaml(text);
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
}

/** A filter itself, or the mapping `filter:` that a destination has. @throws UsageError */
export async function readFilter(file: string, context: Pick<ApiContext, 'input'>): Promise<unknown> {
  const content = await readData(file, context);
  if (typeof content !== 'object' || content === null || !Object.hasOwn(content, 'filter')) return content;
  return (content as { readonly filter: unknown }).filter;
}

/** JSON is YAML too, but only as JSON its numbers keep their digits. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
