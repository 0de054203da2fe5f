/** `tailrace dead list`: which dead letters there are. */
import { newestDeadLetters, countDeadLetters, type DeadLetterCounts } from '@tailrace/deadletters';
import { formatInstant } from '@tailrace/events';
import { topicNames } from '@tailrace/topics';
import { defineCommand, exitCodes, type Outcome } from './command.ts';
import { filterOf, filterOptions, showReading } from './dead-filter.ts';
import { withKafka } from './kafka.ts';
import { countOf, formatCount, table } from './table.ts';
import { aboutTimes } from './times.ts';

export const deadList = defineCommand({
  name: 'dead list',
  summary: 'list dead letters, or count them',
  details: [
    'Lists the newest that match, newest first, or counts all that match by destination and reason. One that\n' +
      'was replayed stays where it is and says so; where it died again, that is another one.',
    aboutTimes,
  ],
  examples: ['dead list --summary', 'dead list --destination crm --reason client-error --since 2h'],
  through: 'kafka',
  options: {
    ...filterOptions,
    limit: { type: 'integer', placeholder: 'N', min: 1, max: 1_000_000, default: 50, help: 'list at most N' },
    summary: { type: 'boolean', help: 'count by destination and reason instead' },
  },
  async run({ limit, summary, ...options }, context) {
    const filter = filterOf(options);
    const onProgress = showReading(context.terminal);
    return withKafka(
      context,
      async (kafka, { prefix }) => {
        const names = topicNames(prefix);
        if (summary) return outcomeOfTally(await countDeadLetters(kafka, names, { filter, onProgress }));
        return outcomeOfList(await newestDeadLetters(kafka, names, { filter, onProgress, limit }));
      },
      { mayTakeLong: true },
    );
  },
});

function outcomeOfList({ matched, letters }: Awaited<ReturnType<typeof newestDeadLetters>>): Outcome {
  const rows = letters.map((letter) => [
    formatInstant(letter.diedAt),
    letter.destinationId ?? '-',
    letter.type ?? '-',
    letter.reason ?? '-',
    String(letter.attempts),
    letter.replayed ? 'yes' : 'no',
    letter.deliveryId ?? `${letter.partition}/${letter.offset}`,
  ]);
  const heading = ['DIED', 'DESTINATION', 'TYPE', 'REASON', 'ATTEMPTS', 'REPLAYED', 'DELIVERY'];
  return {
    exitCode: exitCodes.done,
    text: [
      ...(rows.length > 0 ? table([heading, ...rows]) : []),
      matched > rows.length
        ? `${countOf(matched, 'dead letter')}; these are the newest ${formatCount(rows.length)}.`
        : `${countOf(matched, 'dead letter')}.`,
    ],
    json: {
      matched,
      letters: letters.map((letter) => ({ ...letter, diedAt: formatInstant(letter.diedAt) })),
    },
  };
}

function outcomeOfTally(tally: DeadLetterCounts): Outcome {
  return {
    exitCode: exitCodes.done,
    text: [...tallyLines(tally), `${countOf(tally.deadLetters, 'dead letter')}.`],
    json: tallyJson(tally),
  };
}

export function tallyLines({ rows }: DeadLetterCounts): string[] {
  if (rows.length === 0) return [];
  const heading = ['COUNT', 'REPLAYED', 'DESTINATION', 'REASON', 'OLDEST', 'NEWEST'];
  return table([
    heading,
    ...rows.map((row) => [
      formatCount(row.deadLetters),
      formatCount(row.replayed),
      row.destinationId ?? '-',
      row.reason ?? '-',
      formatInstant(row.oldestAt),
      formatInstant(row.newestAt),
    ]),
  ]);
}

export function tallyJson({ deadLetters, replayed, rows }: DeadLetterCounts) {
  return {
    deadLetters,
    replayed,
    rows: rows.map(({ oldestAt, newestAt, ...row }) => ({
      ...row,
      oldestAt: formatInstant(oldestAt),
      newestAt: formatInstant(newestAt),
    })),
  };
}
