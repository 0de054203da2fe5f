/** Deliveries and attempts as text: an attempt is one line for `tail`, and has every URL for `get delivery`. */
import type { Schema } from '@tailrace/api';
import type { AttemptRecord, UrlAttempt, UrlExchange } from '@tailrace/records';
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
  const answers = urls.map(answerLine).join(', ');
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
    ...urls.flatMap((url) => [
      `  ${printable(`${url.url}  ${answerOf(url)}  ${url.latencyMs} ms`)}`,
      ...exchangeLines(url.exchange),
    ]),
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
    ...happenedLines(delivery),
  ];
}

/** The attempts, and between them when it was replayed or resent. A control service of the release before does not tell. */
function happenedLines({ history, resends = [] }: Partial<Schema['DeliveryWithAttempts']>): string[] {
  const resent = resends.map(({ at, by }) => {
    const line = `${coloured('dim', at)}  sent again${by === undefined ? '' : printable(` by ${by}`)}`;
    return { at, lines: [line] };
  });
  const attempts = (history ?? []).map((attempt) => ({
    at: attempt.startedAt,
    lines: attemptLines(attempt),
  }));
  return [...resent, ...attempts]
    .sort((one, other) => (one.at < other.at ? -1 : 1))
    .flatMap(({ lines }) => lines);
}

/** What was sent and answered in a failed request: the connection, the headers, and the body of the response. */
export function exchangeLines(exchange: UrlExchange | undefined): string[] {
  if (!exchange) return [];
  const { address, dnsMs, connectMs, tlsMs, answerMs, requestHeaders, responseHeaders, responseBody } =
    exchange;
  const steps = [
    ['DNS', dnsMs],
    ['connection', connectMs],
    ['TLS', tlsMs],
    ['answer', answerMs],
  ] as const;
  const connection = [
    ...(address === undefined ? [] : [address]),
    ...steps.flatMap(([step, ms]) => (ms === undefined ? [] : [`${step} ${ms} ms`])),
  ];
  return [
    ...(connection.length > 0 ? [connection.join(', ')] : []),
    ...headerLines('>', requestHeaders),
    ...headerLines('<', responseHeaders),
    ...(responseBody?.split('\n') ?? []),
    ...omission(exchange),
  ].map((line) => `    ${printable(line)}`);
}

function headerLines(mark: string, headers: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(headers).map(([name, value]) => `${mark} ${name}: ${value}`);
}

const omissions = {
  rest: '(the rest of the body was not kept)',
  binary: '(the body is compressed or not text)',
  limit: '(not kept: too many failures in this minute)',
} as const;

function omission({ omitted }: UrlExchange): string[] {
  return omitted === undefined ? [] : [omissions[omitted]];
}

const excerptLength = 200;

/** The body of the response in one line; empty where none is kept. */
function excerptOf({ exchange }: Pick<UrlAttempt, 'exchange'>): string {
  const line = exchange?.responseBody?.replaceAll(/\s+/g, ' ').trim() ?? '';
  return line.length > excerptLength ? `${line.slice(0, excerptLength)}…` : line;
}

type Answer = Omit<UrlAttempt, 'latencyMs'>;

/** The answer of a URL in a sentence. */
export function answerFrom(url: Answer): string {
  const said = excerptOf(url);
  return `${answerOf(url)} from ${url.url}${said === '' ? '' : `, which said: ${said}`}`;
}

/** The answer of a URL in a line. */
export function answerLine(url: Answer): string {
  return [answerOf(url), excerptOf(url)].filter(Boolean).join(' ');
}

function answerOf({ status, reason, detail }: Answer): string {
  const answer = [status, reason].filter((part) => part !== undefined).join(' ');
  return detail === undefined ? answer : `${answer} (${detail})`;
}
