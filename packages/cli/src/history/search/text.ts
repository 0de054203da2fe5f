/** The result of a search as sentences: what was found, where it was looked, and what was not searched. */
import { countOf, formatCount } from '../../terminal/table.ts';
import { decisionSentences } from '@tailrace/records';
import { answerFrom } from '../delivery-text.ts';
import type { Match } from './match.ts';
import type { Period, SearchedTopic } from './read-topic.ts';
import type { DeliveryTrace, Gap, SearchOutcome } from './verdict.ts';

export interface Story {
  readonly eventId: string;
  readonly period: Period;
  readonly outcome: SearchOutcome;
  readonly matches: readonly Match[];
  readonly deliveries: readonly DeliveryTrace[];
  readonly topics: readonly SearchedTopic[];
  readonly gaps: readonly Gap[];
  /** For an event without deliveries: whether the router has read it. Undefined if unknown. */
  readonly routed: boolean | undefined;
}

export function storyLines(story: Story): string[] {
  const { matches, deliveries, outcome } = story;
  return [
    ...matches.flatMap(originLine),
    ...deliveries.flatMap((delivery) => deliveryLines(delivery, story.period)),
    ...verdictLines(story),
    ...(outcome === 'found' && deliveries.every(({ status }) => status === 'delivered')
      ? []
      : nextLines(story)),
    ...searchedLines(story),
  ];
}

function originLine(match: Match): string[] {
  const place = `${match.topic} ${match.partition}/${match.offset}`;
  const doubt =
    'certain' in match && !match.certain ? ' Its format cannot be read here; its bytes contain the id.' : '';
  switch (match.kind) {
    case 'event': {
      const source = match.sourceId === null ? '' : ` from ${match.sourceId}`;
      return [`Accepted at ${match.at}${source}, with the key ${match.key ?? 'null'} (${place}).${doubt}`];
    }
    case 'waiting':
      return [`Waited for its schema at ${match.at} (${place}).${doubt}`];
    case 'rejected':
      return [`Rejected at ${match.at} as ${match.code}: ${match.message} (${place}).${doubt}`];
    case 'decision':
      return decisionSentences(match.decision).map((sentence) => `${sentence.slice(0, -1)} (${place}).`);
    case 'delivery':
    case 'replay':
    case 'retry':
    case 'dead':
    case 'attempt':
      return [];
  }
}

function deliveryLines(
  { destinationId, deliveryId, status, steps }: DeliveryTrace,
  { until }: Period,
): string[] {
  const heading = {
    delivered: 'delivered',
    dead: 'failed permanently',
    open: `no final outcome before ${instant(until)}`,
  }[status];
  return [
    `${destinationId}: ${heading}. Delivery ${deliveryId}:`,
    ...steps.map((step) => `  ${stepLine(step)}`),
  ];
}

function stepLine(match: Match): string {
  const place = `(${match.topic} ${match.partition}/${match.offset})`;
  switch (match.kind) {
    case 'attempt': {
      const answers = match.answers.map(answerFrom).join(', ');
      const next = match.nextDueAt === null ? '' : `, next at ${match.nextDueAt}`;
      return `${match.at}  attempt ${match.attempt}: ${match.outcome}${answers === '' ? '' : `, ${answers}`}${next} ${place}`;
    }
    case 'retry':
      return `${match.at}  waits for a retry, ${match.reason ?? 'no reason'}, due at ${match.dueAt ?? 'once'} ${place}`;
    case 'dead':
      return `${match.at}  dead letter, ${match.reason ?? 'no reason'}, after ${countOf(match.attempts, 'attempt')} ${place}`;
    case 'replay':
      return `${match.at}  replayed ${place}`;
    case 'delivery':
    case 'event':
    case 'waiting':
    case 'rejected':
    case 'decision':
      return `${match.at}  routed ${place}`;
  }
}

function verdictLines({ eventId, period, outcome, routed }: Story): string[] {
  const when = `between ${instant(period.from)} and ${instant(period.until)}`;
  switch (outcome) {
    case 'found':
    case 'decided':
    case 'rejected':
      return [];
    case 'accepted':
      return [
        'Neither a delivery of it nor a decision of the router was found.',
        ...(routed === false ? ['The router has not finished it yet: see tailrace doctor.'] : []),
        ...(routed === true
          ? [
              'The router has read it: it repeated an earlier call, or a router of the release before read it, which ' +
                'recorded no decisions, or its records are in a part that was not searched.',
            ]
          : []),
      ];
    case 'not-found':
      return [`Not found: no record of ${eventId} was written ${when}.`];
    case 'not-searched':
      return [
        `No record of ${eventId} was found ${when}, but not all of it could be searched, so it may exist:`,
      ];
  }
}

/** Advice for events that have no final outcome here. */
function nextLines({ outcome, deliveries }: Story): string[] {
  if (outcome === 'found' && deliveries.some(({ status }) => status === 'open')) {
    return [
      ...(deliveries.some(({ status, finished }) => status === 'open' && finished === true)
        ? [
            'Delivery has finished the last record above: a later record has the outcome, or the delivery was sent or given up and ' +
              'the record of its last attempt was lost.',
          ]
        : []),
      '  To do: search later records too, with a larger --within: retries take up to four hours.',
    ];
  }
  if (outcome === 'accepted') return ['  To do: search later records too, with a larger --within.'];
  if (outcome === 'not-found') {
    return [
      '  To do: check the id, the time (of the record, in UTC) and TAILRACE_TOPIC_PREFIX, or use a larger --within.',
    ];
  }
  return [];
}

function searchedLines({ topics, gaps, period }: Story): string[] {
  const read = topics.filter(({ partitions }) => partitions.length > 0);
  const records = read
    .flatMap(({ partitions }) => partitions)
    .reduce((total, { from, to }) => total + to - from, 0);
  return [
    `Searched ${instant(period.from)} to ${instant(period.until)}, ${formatCount(records)} records:`,
    ...read.map(({ topic, partitions, partitionCount }) => {
      const spans = partitions
        .slice(0, 8)
        .map(({ partition, from, to }) => `${partition}: ${from}-${to}`)
        .join(', ');
      const more = partitions.length > 8 ? ', …' : '';
      return `  ${topic}: ${partitions.length} of ${countOf(partitionCount, 'partition')} (${spans}${more})`;
    }),
    ...(gaps.length > 0 ? ['Not searched:'] : []),
    ...gaps.map(({ topic, partitions, reason }) => {
      const where = partitions === null ? '' : ` ${listOf(partitions)}`;
      return `  ${topic}${where}: ${reason}`;
    }),
  ];
}

function listOf(partitions: readonly number[]): string {
  const shown = partitions.slice(0, 12).join(', ');
  const more = partitions.length > 12 ? `, … (${partitions.length})` : '';
  return `${partitions.length === 1 ? 'partition' : 'partitions'} ${shown}${more}`;
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
