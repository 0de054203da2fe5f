/** The entry of `tailrace create notification`. */
import { resolveValue } from '../configuration/destination-options.ts';
import { readEntry } from '../configuration/entry-file.ts';
import type { CommandContext } from '../command.ts';
import { applyEdits, parseEdit } from '../update/field-edits.ts';

interface Values {
  readonly id: string | undefined;
  readonly set: readonly string[];
  readonly file: string | undefined;
}

/** @throws UsageError */
export async function notificationOf({ id, set, file }: Values, context: CommandContext): Promise<unknown> {
  if (file !== undefined) return readEntry('notification', file, context);
  const edits = set.map((text) => parseEdit(text, (value) => resolveValue('--set', value, context)));
  return applyEdits(id === undefined ? {} : { id }, edits);
}
