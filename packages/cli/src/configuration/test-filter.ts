/** `tailrace test --filter`: tries a filter on a call. Nothing is sent. */
import { parseJson } from '@tailrace/events';
import { parse as parseYaml } from 'yaml';
import type { Schema } from '@tailrace/api';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { done } from '../api/show.ts';
import { exitCodes, UsageError, type Outcome } from '../command.ts';
import { readText } from '../read-text.ts';

export interface FilterValues {
  readonly destination: string;
  /** A file, or true for the filter of the destination. */
  readonly filter: string | true;
  /** A file. */
  readonly call?: string | undefined;
  readonly type?: string | undefined;
}

export async function testFilter(
  { destination, filter, call, type }: FilterValues,
  context: Pick<ApiContext, 'api' | 'input'>,
): Promise<Outcome> {
  if (filter === '-' && call === '-') throw new UsageError('only one of --filter and --call can be -');
  const path = pathOf('destinations', destination, 'filter', 'test');
  const tested = await context.api.send<Schema['FilterTestResult']>('POST', path, {
    ...(filter !== true && { filter: filterIn(await readFile(filter, context)) }),
    ...(call !== undefined && { call: await readFile(call, context) }),
    type,
  });
  const { passes, rule, body } = tested;
  const verdict = passes
    ? `The call passes the filter of ${destination}.`
    : `The call does not pass the filter of ${destination}: it does not meet ${rule?.path ?? ''}, ${rule?.text ?? ''}.`;
  return {
    ...done([verdict, 'Conditions apply to this body:', `  ${body}`], tested),
    exitCode: passes ? exitCodes.done : exitCodes.failed,
  };
}

/** YAML or JSON; `-` is standard input. */
async function readFile(file: string, context: Pick<ApiContext, 'input'>): Promise<unknown> {
  try {
    const text = await readText(file, context);
    return isJson(text) ? parseJson(text) : parseYaml(text);
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
}

/** The filter itself, or the mapping `filter:` that a destination has. */
function filterIn(content: unknown): unknown {
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
