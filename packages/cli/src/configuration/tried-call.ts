/** The call on which a destination, a filter or a transform is tried. */
import { parseJson } from '@tailrace/events';
import type { Schema } from '@tailrace/api';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { readData } from './data-file.ts';

export interface CallValues {
  /** A file. */
  readonly call?: string | undefined;
  /** The messageId of a past event. */
  readonly event?: string | undefined;
  /** Of the sample that is tried where neither is given. */
  readonly type?: string | undefined;
}

/** The fields of the request. @throws UsageError, TailraceError */
export async function triedCall(
  { call, event, type }: CallValues,
  context: Pick<ApiContext, 'api' | 'input'>,
): Promise<{ readonly call?: unknown; readonly type?: string | undefined }> {
  if (call !== undefined) return { call: await readData(call, context) };
  if (event === undefined) return { type };
  const { text } = await context.api.get<Schema['EventCall']>(pathOf('events', event, 'call'));
  return { call: parseJson(text) };
}
