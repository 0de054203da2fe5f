/** `tailrace test --filter`: tries a filter on a call. Nothing is sent. */
import type { Schema } from '@tailrace/api';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { done } from '../api/show.ts';
import { exitCodes, UsageError, type Outcome } from '../command.ts';
import { readFilter } from './data-file.ts';
import { triedCall, type CallValues } from './tried-call.ts';

export interface FilterValues extends CallValues {
  readonly destination: string;
  /** A file, or true for the filter of the destination. */
  readonly filter: string | true;
}

export async function testFilter(
  { destination, filter, ...tried }: FilterValues,
  context: Pick<ApiContext, 'api' | 'input'>,
): Promise<Outcome> {
  if (filter === '-' && tried.call === '-') throw new UsageError('only one of --filter and --call can be -');
  const path = pathOf('destinations', destination, 'filter', 'test');
  const tested = await context.api.send<Schema['FilterTestResult']>('POST', path, {
    ...(filter !== true && { filter: await readFilter(filter, context) }),
    ...(await triedCall(tried, context)),
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
