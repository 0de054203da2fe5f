/** `tailrace dead replay`: replays dead letters. */
import {
  countDeadLetters,
  replayDeadLetters,
  type DeadLetterFilter,
  type ReplayResult,
} from '@tailrace/deadletters';
import { openConfig } from '@tailrace/config';
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import { transformFailedHeader } from '@tailrace/records';
import { topicNames, type TopicNames } from '@tailrace/topology';
import { transformAgain, Transforms, type AgainDependencies } from '@tailrace/transform';
import { actor, leaveEntry } from '../audit.ts';
import { exitCodes, UsageError, type CommandContext, type Outcome, type Run } from '../command.ts';
import { withKafka } from '../kafka.ts';
import { countOf, formatCount } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { absoluteTimes, filterOf, showReading, type FilterValues } from './filter.ts';
import { countLines, countsJson } from './list.ts';
import { notReplayed } from './options.ts';

interface Values extends FilterValues {
  readonly all?: boolean;
  readonly rate: number;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export const replay: Run<Values> = async (values, context) => {
  const filter = filterOf(values);
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  if (!values.all && !isFiltered) {
    throw new UsageError('a filter is missing: give one, such as --destination <id>, or --all');
  }
  if (values.all && isFiltered) throw new UsageError('--all cannot be used with a filter');
  return withKafka(
    context,
    (kafka, { prefix }) => replayMatching({ kafka, names: topicNames(prefix) }, filter, values, context),
    { timeLimit: false },
  );
};

async function replayMatching(
  { kafka, names }: { readonly kafka: Kafka; readonly names: TopicNames },
  filter: DeadLetterFilter,
  { rate, dryRun = false, yes = false, ...period }: Values,
  context: CommandContext,
): Promise<Outcome> {
  const { terminal } = context;
  const counts = await countDeadLetters(kafka, names, { filter, onProgress: showReading(terminal) });
  terminal.progress('');
  const due = counts.deadLetters - counts.replayed;
  const before = counts.replayed > 0 ? ` ${countOf(counts.replayed, 'other')} had been replayed before.` : '';
  if (dryRun) {
    return {
      text: [
        ...countLines(counts),
        `Dry run, nothing was replayed: ${countOf(due, 'dead letter')} would be, ${durationOf(due, rate)}.${before}`,
      ],
      json: { dryRun, due, ...countsJson(counts) },
    };
  }
  const question = `Replay ${countOf(due, 'dead letter')}, ${durationOf(due, rate)}?`;
  if (due > 0 && !yes && !(await terminal.confirm(question))) {
    return {
      exitCode: exitCodes.failed,
      text: ['Nothing was replayed.'],
      json: { dryRun, due, replayed: 0, malformed: 0, interrupted: true },
    };
  }
  await using again = openAgain(kafka, names);
  const result =
    due === 0
      ? { replayed: 0, malformed: 0, interrupted: false }
      : await replayDeadLetters(kafka, names, {
          filter,
          ends: counts.ends,
          ratePerSecond: rate,
          by: actor().name,
          rebuild: again.rebuild,
          signal: terminal.interruption(),
          onReplayed: showReplayed(terminal, due, rate),
        });
  if (due > 0) {
    const changes = [
      { field: 'filter', after: filter },
      { field: 'replayed', after: result.replayed },
    ];
    await leaveEntry(kafka, names.audit, { action: 'dead replay', target: 'dead-letters', changes }, context);
  }
  return {
    exitCode: result.interrupted ? exitCodes.interrupted : exitCodes.done,
    text: resultLines(result, due, before, absoluteTimes(period, filter)),
    json: { dryRun, due, ...result },
  };
}

/** The transforms and the configuration, which are opened for the first dead letter that needs them. */
function openAgain(kafka: Kafka, names: TopicNames) {
  let opened: Promise<AgainDependencies & { close(): Promise<unknown> }> | undefined;
  const open = async () => {
    const config = await openConfig(kafka, names.config, { warn: () => undefined });
    const transforms = new Transforms({ threads: 1 });
    return { config, transforms, close: () => Promise.all([config.close(), transforms.close()]) };
  };
  return {
    rebuild: async (record: ConsumedRecord): Promise<ConsumedRecord> =>
      record.headers[transformFailedHeader] === undefined
        ? record
        : transformAgain(await (opened ??= open()), record),
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await (await opened)?.close();
    },
  };
}

function showReplayed(terminal: Terminal, due: number, rate: number) {
  return (replayed: number): void => {
    const rest = durationOf(due - replayed, rate);
    terminal.progress(`Replayed ${formatCount(replayed)} of ${formatCount(due)}; the rest ${rest}`);
  };
}

/** `times` are options for the next run, instead of relative times. */
function resultLines(
  { replayed, malformed, interrupted }: ReplayResult,
  due: number,
  before: string,
  times: readonly string[],
): string[] {
  const progress = `${formatCount(replayed)} of ${countOf(due, 'dead letter')} replayed.`;
  const instead = times.length > 0 ? `, with ${times.join(' ')},` : '';
  return [
    interrupted
      ? `Interrupted: ${progress} The same command${instead} continues with the rest.`
      : `${progress}${before}`,
    ...(malformed > 0 ? [notReplayed(malformed)] : []),
  ];
}

/** `in about 20 s`. */
function durationOf(count: number, rate: number): string {
  const seconds = Math.ceil(count / rate);
  if (seconds < 120) return `in about ${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `in about ${minutes} min` : `in about ${Math.ceil(minutes / 60)} h`;
}
