/** `tailrace dead replay`: lets deliveries that died be tried again. */
import { replayDeadLetters, countDeadLetters } from '@tailrace/deadletters';
import type { Kafka } from '@tailrace/kafka';
import { topicNames } from '@tailrace/topics';
import { defineCommand, exitCodes, UsageError, type CommandContext, type Outcome } from './command.ts';
import { filterOf, filterOptions, lastingTimes, showReading } from './dead-filter.ts';
import { tallyJson, tallyLines } from './dead-list.ts';
import { withKafka } from './kafka.ts';
import { countOf, formatCount } from './table.ts';
import { aboutTimes } from './times.ts';

export const deadReplay = defineCommand({
  name: 'dead replay',
  summary: 'let deliveries that died be tried again',
  details: [
    'Publishes each dead letter that matches and was not replayed before, once, in a lane beside live traffic:\n' +
      'the same delivery id and the same body, with all its attempts and all its URLs ahead of it.',
    'It may be interrupted at any moment, also by kill -9: the same command continues, and doubles nothing.\n' +
      'What dies while it runs is left for another run. One replay runs at a time: a later one ends an earlier.',
    aboutTimes,
  ],
  examples: ['dead replay --destination crm --since 2h', 'dead replay --all --rate 200'],
  through: 'kafka',
  options: {
    ...filterOptions,
    all: { type: 'boolean', help: 'all of them; needed where nothing else says which' },
    rate: {
      type: 'integer',
      placeholder: 'N',
      min: 1,
      max: 100_000,
      default: 50,
      help: 'at most N a second',
    },
    'dry-run': { type: 'boolean', help: 'count what would be replayed, and do nothing' },
    yes: { type: 'boolean', help: 'do not ask' },
  },
  async run({ all, rate, 'dry-run': dryRun, yes, ...options }, context) {
    const filter = filterOf(options);
    const isFiltered = Object.values(filter).some((value) => value !== undefined);
    if (!all && !isFiltered)
      throw new UsageError('say which, for example --destination ID, or --all of them');
    if (all && isFiltered) throw new UsageError('--all does not go with options that say which');
    const meantTimes = lastingTimes(options, filter);
    return withKafka(
      context,
      (kafka, { prefix }) => replay(kafka, prefix, { filter, rate, dryRun, yes, meantTimes }, context),
      { mayTakeLong: true },
    );
  },
});

interface Request {
  readonly filter: ReturnType<typeof filterOf>;
  readonly rate: number;
  readonly dryRun: boolean;
  readonly yes: boolean;
  /** Options to give instead of those that mean something else at another time. */
  readonly meantTimes: readonly string[];
}

async function replay(
  kafka: Kafka,
  prefix: string,
  { filter, rate, dryRun, yes, meantTimes }: Request,
  { terminal }: CommandContext,
): Promise<Outcome> {
  const names = topicNames(prefix);
  const tally = await countDeadLetters(kafka, names, { filter, onProgress: showReading(terminal) });
  terminal.progress('');
  const due = tally.deadLetters - tally.replayed;
  const before = tally.replayed > 0 ? ` ${countOf(tally.replayed, 'other')} had been replayed before.` : '';
  if (dryRun) {
    return {
      exitCode: exitCodes.done,
      text: [
        ...tallyLines(tally),
        `Dry run, nothing was replayed: ${countOf(due, 'dead letter')} would be, ${takes(due, rate)}.${before}`,
      ],
      json: { dryRun, due, ...tallyJson(tally) },
    };
  }
  const asked = due === 0 || yes;
  if (!asked && !(await terminal.confirm(`Replay ${countOf(due, 'dead letter')}, ${takes(due, rate)}?`))) {
    return {
      exitCode: exitCodes.failed,
      text: ['Nothing was replayed.'],
      json: { dryRun, due, replayed: 0, malformed: 0, interrupted: true },
    };
  }
  const result =
    due === 0
      ? { replayed: 0, malformed: 0, interrupted: false }
      : await replayDeadLetters(kafka, names, {
          filter,
          ends: tally.ends,
          ratePerSecond: rate,
          signal: terminal.interruption(),
          onReplayed(replayed) {
            const left = takes(due - replayed, rate);
            terminal.progress(`Replayed ${formatCount(replayed)} of ${formatCount(due)}; the rest ${left}`);
          },
        });
  const { replayed, malformed, interrupted } = result;
  const progress = `${formatCount(replayed)} of ${countOf(due, 'dead letter')} replayed.`;
  const instead = meantTimes.length > 0 ? `, with ${meantTimes.join(' ')},` : '';
  return {
    exitCode: interrupted ? exitCodes.interrupted : exitCodes.done,
    text: [
      interrupted
        ? `Interrupted: ${progress} The same command${instead} continues with the rest.`
        : `${progress}${before}`,
      ...(malformed > 0 ? [`${countOf(malformed, 'record')} among them cannot be: no deliveries.`] : []),
    ],
    json: { dryRun, due, ...result },
  };
}

/** `in about 20 s`. */
function takes(count: number, rate: number): string {
  const seconds = Math.ceil(count / rate);
  if (seconds < 120) return `in about ${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `in about ${minutes} min` : `in about ${Math.ceil(minutes / 60)} h`;
}
