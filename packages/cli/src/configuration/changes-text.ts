/** The changes of `apply` and `config import` as text. */
import { isDeepStrictEqual, styleText } from 'node:util';
import type { EntryChange, EntryOutcome, FieldDifference } from '@tailrace/config';
import { printable } from '../terminal/table.ts';

const colours = {
  created: 'green',
  updated: 'yellow',
  deleted: 'red',
  unchanged: 'dim',
  left: 'dim',
} as const satisfies Record<EntryOutcome, string>;

export function lineOf({ kind, id, outcome, fields }: EntryChange): string {
  const what = `${styleText(colours[outcome], outcome.padEnd(9))}  ${kind}/${id}`;
  return fields.length === 0 ? what : `${what}  ${fields.join(', ')}`;
}

export function withoutDifferences({ kind, id, outcome, fields }: EntryChange) {
  return { kind, id, outcome, fields };
}

/** Each changed field on a line of its own, with the values before and after. */
export function diffOf(change: EntryChange): string[] {
  return [
    lineOf({ ...change, fields: [] }),
    ...change.differences.map((difference) => `${' '.repeat(11)}${printable(describe(difference))}`),
  ];
}

function describe({ field, before, after }: FieldDifference): string {
  const show = (value: unknown): string => (value === undefined ? 'not set' : JSON.stringify(value));
  if (isDeepStrictEqual(before, after)) return `${field}: changes, and is not shown`;
  return `${field}: ${show(before)} → ${show(after)}`;
}

/** @param pruneOption the option that deletes the entries that are left */
export function summaryOf(
  changes: readonly EntryChange[],
  { dryRun, pruneOption }: { readonly dryRun: boolean; readonly pruneOption: string },
): string {
  const outcomes = Object.keys(colours) as EntryOutcome[];
  const counts = outcomes.flatMap((outcome) => {
    const count = changes.filter((change) => change.outcome === outcome).length;
    return count === 0 ? [] : [`${count} ${outcome}`];
  });
  const summary = counts.length === 0 ? 'There is nothing to do' : counts.join(', ');
  const left = changes.some(({ outcome }) => outcome === 'left');
  return [
    dryRun ? `Dry run, nothing was written: ${summary}.` : `${summary}.`,
    ...(left ? [`With ${pruneOption}, what is left is deleted.`] : []),
  ].join(' ');
}
