/** A source or destination from a file, for `tailrace create -f`. */
import { readFileSync } from 'node:fs';
import { text as textOf } from 'node:stream/consumers';
import { parse as parseYaml } from 'yaml';
import { UsageError, type CommandContext } from '../command.ts';

/** Reads YAML or JSON; `-` is standard input. The service validates the content. @throws UsageError */
export async function readEntry(file: string, { input }: Pick<CommandContext, 'input'>): Promise<unknown> {
  try {
    return parseYaml(file === '-' ? await textOf(input()) : readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
}
