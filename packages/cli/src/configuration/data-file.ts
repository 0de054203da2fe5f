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

/** JSON is YAML too, but only as JSON its numbers keep their digits. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
