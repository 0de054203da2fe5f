/** Where the references `env:NAME` and `file:PATH` of command lines and files are looked up. */
import path from 'node:path';
import type { ReferenceLookups } from '@tailrace/config';
import { readBounded } from '@tailrace/service';
import type { CommandContext } from '../command.ts';

/** As for settings in files; the largest value is a list of certificates. */
const maxBytes = 64 * 1024;

/** @param file the file with the references, to which paths are relative; `-` is standard input, for the current folder */
export function referencesOf({ env }: Pick<CommandContext, 'env'>, file = '-'): ReferenceLookups {
  const folder = file === '-' ? '.' : path.dirname(file);
  return { env, readFile: (name) => readBounded(path.resolve(folder, name), maxBytes) };
}
