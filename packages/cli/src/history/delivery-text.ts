/** Deliveries and attempts as text: an attempt is one line for `tail`, and has every URL for `get delivery`. */
import type { Schema } from '@tailrace/api';
import type { AttemptRecord, UrlAttempt } from '@tailrace/records';
import { coloured } from '../terminal/coloured.ts';
import { printable, table } from '../terminal/table.ts';

const colours = { delivered: 'green', retry: 'yellow', dead: 'red' } as const;

export function attemptLine({
  startedAt,
  outcome,
  attempt,
  latencyMs,
  reason,
  urls,
  ...record
}: AttemptRecord): string {
  const answers = urls.map(answerOf).join(', ');
  return [
    coloured('dim', startedAt),
    coloured(colours[outcome], outcome.padEnd(9)),
    printable(`${record.sourceId} → ${record.destinationId}`),
    printable(record.type),
    printable(record.eventId),
    `attempt ${attempt}`,
    printable(answers === '' ? (reason ?? '') : answers),
    coloured('dim', `${latencyMs} ms`),
  ].join('  ');
}

export function attemptLines({
  startedAt,
  outcome,
  attempt,
  reason,
  nextDueAt,
  urls,
}: Schema['Attempt']): string[] {
  const next = nextDueAt === undefined ? '' : `, next at ${nextDueAt}`;
  const why = reason === undefined ? '' : `, ${reason}`;
  return [
    `${coloured('dim', startedAt)}  attempt ${attempt}  ${coloured(colours[outcome], outcome)}${printable(`${why}${next}`)}`,
    ...urls.map((url) => `  ${printable(`${url.url}  ${answerOf(url)}  ${url.latencyMs} ms`)}`),
  ];
}

export function deliveryLines(delivery: Schema['DeliveryWithAttempts']): string[] {
  const { event, userKey, reason, nextDueAt } = delivery;
  return [
    ...table([
      ['status', reason === undefined ? delivery.status : `${delivery.status}, ${reason}`],
      ...(nextDueAt === undefined ? [] : [['next attempt', nextDueAt]]),
      ['destination', delivery.destinationId],
      ['source', delivery.sourceId],
      ['call', event === undefined ? delivery.type : `${delivery.type} ${event}`],
      ['user', userKey],
      ['event id', delivery.eventId],
    ]),
    ...delivery.history.flatMap(attemptLines),
  ];
}

export function answerOf({ status, reason, detail }: UrlAttempt): string {
  const answer = [status, reason].filter((part) => part !== undefined).join(' ');
  return detail === undefined ? answer : `${answer} (${detail})`;
}
