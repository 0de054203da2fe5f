/** Reads the file that an option names. */
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { CommandContext } from './command.ts';

/**
 * The content of a file; `-` is standard input, which is read as a stream: reading it synchronously fails where it has no data yet.
 *
 * @throws Error of the file system
 */
export async function readText(file: string, { input }: Pick<CommandContext, 'input'>): Promise<string> {
  return file === '-' ? text(input()) : readFileSync(file, 'utf8');
}
