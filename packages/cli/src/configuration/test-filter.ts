/** `tailrace test --filter`: tries a filter on a call. Nothing is sent. */
import type { Schema } from '@tailrace/api';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { done } from '../api/show.ts';
import { exitCodes, UsageError, type Outcome } from '../command.ts';
import { readData, readFilter } from './data-file.ts';

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
    ...(filter !== true && { filter: await readFilter(filter, context) }),
    ...(call !== undefined && { call: await readData(call, context) }),
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
