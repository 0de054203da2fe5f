/** `tailrace dead show`: the dead letters of one delivery, in full. */
import { styleText } from 'node:util';
import { findDeadLetters, type DeadLetter } from '@tailrace/deadletters';
import { TailraceError } from '@tailrace/errors';
import { formatInstant, parseJson } from '@tailrace/events';
import type { UrlAttempt } from '@tailrace/records';
import { topicNames } from '@tailrace/topology';
import type { Run } from '../command.ts';
import { withKafka } from '../kafka.ts';
import { formatCount, printable, table } from '../terminal/table.ts';
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
  const lastAnswer = record.headers['last-answer'];
  const headers = record.headerList.filter(([name]) => name !== 'last-answer');
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
    ...(lastAnswer ? [heading('last answers'), ...answerLines(lastAnswer.toString())] : []),
    heading(`body, ${formatCount(record.value?.length ?? 0)} bytes`),
    ...bodyLines(record.value),
  ];
}

function answerLines(lastAnswer: string): string[] {
  const answers = parseAnswers(lastAnswer);
  if (!answers) return [`  ${printable(lastAnswer)}`];
  return table(
    answers.map(({ url, status, reason = '', detail = '', latencyMs }) => [
      `  ${url}`,
      status === undefined ? reason : `${status} ${reason}`,
      `${latencyMs} ms`,
      detail,
    ]),
  );
}

/** Undefined for a malformed record, whose header `last-answer` is the error as text. */
function parseAnswers(lastAnswer: string): readonly UrlAttempt[] | undefined {
  try {
    const answers: unknown = JSON.parse(lastAnswer);
    return Array.isArray(answers) ? (answers as UrlAttempt[]) : undefined;
  } catch {
    return undefined;
  }
}

function bodyLines(body: Buffer | null): string[] {
  const text = body?.toString() ?? '';
  try {
    return JSON.stringify(parseJson(text), undefined, 2).split('\n').map(printable);
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
