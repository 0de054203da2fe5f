/** `tailrace dead show`: the dead letters of one delivery, in full. */
import { styleText } from 'node:util';
import { findDeadLetters, lastAnswersOf, type DeadLetter } from '@tailrace/deadletters';
import { TailraceError } from '@tailrace/errors';
import { formatInstant, parseJson } from '@tailrace/events';
import { exchangesHeader, type UrlAttempt } from '@tailrace/records';
import { topicNames } from '@tailrace/topology';
import type { Run } from '../command.ts';
import { withKafka } from '../kafka.ts';
import { exchangeLines } from '../history/delivery-text.ts';
import { formatCount, jsonText, printable, table } from '../terminal/table.ts';
import { showReading } from './filter.ts';

interface Values {
  /** The id of a delivery, or `<partition>/<offset>`. */
  readonly delivery: string;
  readonly raw?: boolean;
}

export const showDeadLetter: Run<Values> = async ({ delivery, raw }, context) => {
  const letters = await withKafka(
    context,
    (kafka, { prefix }) =>
      findDeadLetters(kafka, topicNames(prefix), delivery, { onProgress: showReading(context.terminal) }),
    { timeLimit: false },
  );
  const last = letters.at(-1);
  if (!last) throw new TailraceError('not-found', `There is no dead letter of ${printable(delivery)}.`);
  return {
    text: letters.flatMap((letter, index) => [...(index > 0 ? [''] : []), ...linesOf(letter)]),
    ...(raw && { raw: last.record.value ?? Buffer.alloc(0) }),
    json: { letters: letters.map(jsonOf) },
  };
};

function linesOf({ summary, record }: DeadLetter): string[] {
  const lastAnswers = lastAnswersOf(record);
  const headers = record.headerList.filter(([name]) => name !== 'last-answer' && name !== exchangesHeader);
  const heading = (text: string): string => styleText('bold', text);
  return [
    ...table([
      ['died', formatInstant(summary.diedAt)],
      ['replayed', summary.replayed ? 'yes' : 'no'],
      ['lies at', `${summary.partition}/${summary.offset} of ${record.topic}`],
      ['key', record.key?.toString() ?? '-'],
    ]),
    heading('headers'),
    ...table(headers.map(([name, value]) => [`  ${name}`, value?.toString() ?? 'null'])),
    ...(lastAnswers === undefined ? [] : [heading('last answers'), ...answerLines(lastAnswers)]),
    heading(`body, ${formatCount(record.value?.length ?? 0)} bytes`),
    ...bodyLines(record.value),
  ];
}

/** A malformed record has the problem as text. */
function answerLines(answers: readonly UrlAttempt[] | string): string[] {
  if (typeof answers === 'string') return [`  ${printable(answers)}`];
  const lines = table(
    answers.map(({ url, status, reason = '', detail = '', latencyMs }) => [
      `  ${url}`,
      status === undefined ? reason : `${status} ${reason}`,
      `${latencyMs} ms`,
      detail,
    ]),
  );
  return answers.flatMap(({ exchange }, place) => [lines[place] ?? '', ...exchangeLines(exchange)]);
}

function bodyLines(body: Buffer | null): string[] {
  const text = body?.toString() ?? '';
  try {
    return jsonText(parseJson(text), 2).split('\n');
  } catch {
    return text.split('\n').map(printable);
  }
}

function jsonOf({ summary, record }: DeadLetter) {
  const headers = Object.entries(record.headers).map(([name, value]) => [name, value.toString()]);
  return {
    ...summary,
    diedAt: formatInstant(summary.diedAt),
    key: record.key?.toString(),
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: record.value?.toString(),
  };
}
