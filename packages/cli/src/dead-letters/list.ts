/** `tailrace dead list`: lists or counts dead letters. */
import { newestDeadLetters, countDeadLetters, type DeadLetterCounts } from '@tailrace/deadletters';
import { formatInstant } from '@tailrace/events';
import { topicNames } from '@tailrace/topology';
import type { Outcome, Run } from '../command.ts';
import { withKafka } from '../kafka.ts';
import { countOf, formatCount, table } from '../terminal/table.ts';
import { filterOf, showReading, type FilterValues } from './filter.ts';

interface Values extends FilterValues {
  readonly limit: number;
  readonly summary?: boolean;
}

export const listDeadLetters: Run<Values> = async ({ limit, summary, ...values }, context) => {
  const filter = filterOf(values);
  const onProgress = showReading(context.terminal);
  return withKafka(
    context,
    async (kafka, { prefix }) => {
      const names = topicNames(prefix);
      return summary
        ? outcomeOfCounts(await countDeadLetters(kafka, names, { filter, onProgress }))
        : outcomeOfList(await newestDeadLetters(kafka, names, { filter, onProgress, limit }));
    },
    { timeLimit: false },
  );
};

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

function outcomeOfCounts(counts: DeadLetterCounts): Outcome {
  return {
    text: [...countLines(counts), `${countOf(counts.deadLetters, 'dead letter')}.`],
    json: countsJson(counts),
  };
}

export function countLines({ rows }: DeadLetterCounts): string[] {
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

export function countsJson({ deadLetters, replayed, rows }: DeadLetterCounts) {
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
