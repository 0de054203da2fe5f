/** `tailrace apply --prune`: which entries it deletes, and whether it may. */
import type { Configuration, EntryChange } from '@tailrace/config';
import { UsageError, type CommandContext } from '../command.ts';
import { countOf, printable } from '../terminal/table.ts';

export interface PruneOptions {
  readonly yes: boolean;
  readonly all: boolean;
}

const mostNamed = 10;

/**
 * Asks on a terminal. An empty list is more often a broken template than a wish, so it deletes all entries of its kind only on
 * request.
 *
 * @param planned the changes that the file would make now
 * @returns the entries that may be deleted, as `source/web`; undefined where the user refuses
 * @throws UsageError where `--yes` or `--all` is missing
 */
export async function mayPrune(
  { terminal }: Pick<CommandContext, 'terminal'>,
  wanted: Configuration,
  planned: readonly EntryChange[],
  { yes, all }: PruneOptions,
): Promise<ReadonlySet<string> | undefined> {
  const deleted = planned.filter(({ outcome }) => outcome === 'deleted');
  for (const kind of ['source', 'destination'] as const) {
    const count = deleted.filter((change) => change.kind === kind).length;
    if (count > 0 && wanted[`${kind}s`].length === 0 && !all) {
      throw new UsageError(
        `the file has no ${kind}s, so --prune would delete all of them (${count}); if that is intended, add --all`,
      );
    }
  }
  const keys = deleted.map(({ kind, id }) => `${kind}/${id}`);
  if (keys.length === 0 || yes) return new Set(keys);
  const named = keys.slice(0, mostNamed).join(', ');
  const shown = keys.length > mostNamed ? `${named} and ${keys.length - mostNamed} more` : named;
  if (!terminal.isAttended) {
    throw new UsageError(`--prune would delete ${shown}; where no user can be asked, add --yes`);
  }
  const question = printable(
    `Delete ${countOf(keys.length, 'entry')} that the file does not have: ${shown}?`,
  );
  return (await terminal.confirm(question)) ? new Set(keys) : undefined;
}
