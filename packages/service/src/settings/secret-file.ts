/**
 * Every secret setting can be in a file: `X_FILE` names the file whose content is the value of `X`. A mounted file is not shown
 * by `kubectl describe` or `/proc/<pid>/environ`, as a variable is. Messages name the variable and never the content.
 */
import { isUtf8 } from 'node:buffer';
import { TailraceError } from '@tailrace/errors';
import { readBounded } from './bounded-file.ts';
import type { VariableSchema } from './text.ts';

/** Far above every secret: the largest is a private key with its certificates. */
const maxBytes = 64 * 1024;

/** The variable that names the file of a secret; undefined for a setting that is not secret. */
export function fileVariable({ env, writeOnly }: VariableSchema): string | undefined {
  return writeOnly === true ? `${env}_FILE` : undefined;
}

/**
 * The text of a variable, from the environment or from its file, without white space around it; empty where it is unset.
 *
 * @throws TailraceError `invalid-settings`
 */
export function textOf(variable: VariableSchema, env: Readonly<Record<string, string | undefined>>): string {
  const text = env[variable.env]?.trim() ?? '';
  const name = fileVariable(variable);
  if (name === undefined) return text;
  const path = env[name]?.trim() ?? '';
  if (path === '') return text;
  if (text !== '') throw invalid(`${name}: set together with ${variable.env}. Unset one of them.`);
  const content = readSecret(name, path).trim();
  if (content === '') throw invalid(`${name}: the file ${path} is empty. Write the secret into it.`);
  return content;
}

function readSecret(name: string, path: string): string {
  let content: Buffer;
  try {
    content = readBounded(path, maxBytes);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    if (code === 'EFBIG') throw invalid(`${name}: the file ${path} has more than 64 KB. It is not a secret.`);
    throw invalid(`${name}: the file ${path} cannot be read (${code}). Check the path and its permissions.`);
  }
  if (!isUtf8(content)) throw invalid(`${name}: the file ${path} is not text in UTF-8. Save it as UTF-8.`);
  return content.toString();
}

function invalid(problem: string): TailraceError {
  return new TailraceError('invalid-settings', problem);
}
