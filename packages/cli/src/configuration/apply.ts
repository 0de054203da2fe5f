/** `tailrace apply`: creates, updates and deletes sources and destinations as a file says. */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual, styleText } from 'node:util';
import {
  applyConfiguration,
  hasSecrets,
  parseConfiguration,
  type EntryChange,
  type EntryOutcome,
  type FieldDifference,
} from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { topicNames } from '@tailrace/topics';
import { exitCodes, type Run } from '../command.ts';
import { withKafka } from '../kafka.ts';
import { printable } from '../terminal/table.ts';

const standardInput = 0;

const colours = {
  created: 'green',
  updated: 'yellow',
  deleted: 'red',
  unchanged: 'dim',
  left: 'dim',
} as const satisfies Record<EntryOutcome, string>;

interface Values {
  readonly file: string;
  readonly dryRun?: boolean;
  readonly prune?: boolean;
}

export const applyFile: Run<Values> = async ({ file, dryRun = false, prune = false }, context) => {
  const configuration = parseConfiguration(read(file), {
    fileName: file === '-' ? 'standard input' : file,
  });
  const { changes, plainSecrets } = await withKafka(context, async (kafka, { prefix }, secretKeys) => ({
    changes: await applyConfiguration(kafka, topicNames(prefix).config, configuration, {
      ...{ prune, dryRun, secretKeys },
      log: {
        warn(fields, message) {
          context.log.warn(fields, message);
          context.warn(message);
        },
      },
    }),
    plainSecrets: secretKeys.current === undefined && configuration.destinations.some(hasSecrets),
  }));
  if (plainSecrets && !dryRun) context.warn(plainSecretsWarning);
  return {
    exitCode: exitCodes.done,
    text: [...changes.flatMap(dryRun ? diffOf : lineOf), summaryOf(changes, dryRun)],
    json: { dryRun, changes: dryRun ? changes : changes.map(withoutDifferences) },
  };
};

const plainSecretsWarning =
  'Secrets were written without encryption: readers of the topic can read them. Set TAILRACE_SECRET_KEY and apply again.';

function read(file: string): string {
  try {
    return readFileSync(file === '-' ? standardInput : file, 'utf8');
  } catch (error) {
    throw new TailraceError('invalid-configuration', `${file}: ${(error as Error).message}`);
  }
}

function lineOf({ kind, id, outcome, fields }: EntryChange): string {
  const what = `${styleText(colours[outcome], outcome.padEnd(9))}  ${kind}/${id}`;
  return fields.length === 0 ? what : `${what}  ${fields.join(', ')}`;
}

function withoutDifferences({ kind, id, outcome, fields }: EntryChange) {
  return { kind, id, outcome, fields };
}

/** Each changed field on a line of its own, with the values before and after. */
function diffOf(change: EntryChange): string[] {
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

function summaryOf(changes: readonly EntryChange[], dryRun: boolean): string {
  const outcomes = Object.keys(colours) as EntryOutcome[];
  const counts = outcomes.flatMap((outcome) => {
    const count = changes.filter((change) => change.outcome === outcome).length;
    return count === 0 ? [] : [`${count} ${outcome}`];
  });
  const summary = counts.length === 0 ? 'There is nothing to do' : counts.join(', ');
  const left = changes.some(({ outcome }) => outcome === 'left');
  return [
    dryRun ? `Dry run, nothing was written: ${summary}.` : `${summary}.`,
    ...(left ? ['With --prune, what is left is deleted.'] : []),
  ].join(' ');
}
