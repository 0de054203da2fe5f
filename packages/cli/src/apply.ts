/** `tailrace apply`: brings sources and destinations to what a file says. */
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
import { defineCommand, exitCodes } from './command.ts';
import { withKafka } from './kafka.ts';
import { printable } from './table.ts';

const standardInput = 0;

const colours = {
  created: 'green',
  updated: 'yellow',
  deleted: 'red',
  unchanged: 'dim',
  left: 'dim',
} as const satisfies Record<EntryOutcome, string>;

export const apply = defineCommand({
  name: 'apply',
  summary: 'bring sources and destinations to what a file says',
  details: [
    'The file is YAML or JSON; packages/config/README.md describes it. All that is wrong with it is told at\n' +
      'once, and then nothing is changed. Of an update, the fields that change are named; --dry-run shows what they are\n' +
      'and would be, but no secret, write key, value of a header or query of a URL.',
    'What is in Kafka and not in the file is left alone, unless --prune is given.',
  ],
  examples: [
    'apply -f tailrace.yaml',
    'apply -f tailrace.yaml --dry-run --prune',
    'apply -f - < tailrace.yaml',
  ],
  through: 'kafka',
  options: {
    file: {
      type: 'string',
      short: 'f',
      placeholder: 'FILE',
      required: true,
      help: 'the configuration; - reads standard input',
    },
    'dry-run': { type: 'boolean', help: 'say what would be done, and do nothing' },
    prune: { type: 'boolean', help: 'delete what is not in the file' },
  },
  async run({ file, 'dry-run': dryRun, prune }, context) {
    const configuration = parseConfiguration(read(file), {
      fileName: file === '-' ? 'standard input' : file,
    });
    const { changes, inPlain } = await withKafka(context, async (kafka, { prefix }, secretKeys) => ({
      changes: await applyConfiguration(kafka, topicNames(prefix).config, configuration, {
        ...{ prune, dryRun, secretKeys },
        log: {
          warn(fields, message) {
            context.log.warn(fields, message);
            context.warn(message);
          },
        },
      }),
      inPlain: secretKeys.current === undefined && configuration.destinations.some(hasSecrets),
    }));
    if (inPlain && !dryRun) context.warn(plainSecrets);
    return {
      exitCode: exitCodes.done,
      text: [...changes.flatMap(dryRun ? diffOf : lineOf), summaryOf(changes, dryRun)],
      json: { dryRun, changes: dryRun ? changes : changes.map(withoutDifferences) },
    };
  },
});

const plainSecrets =
  'Secrets were written as they are, since TAILRACE_SECRET_KEY is not set: who can read the topic can read them.';

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

/** Every field on a line of its own, with what it is and what it would be. */
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
