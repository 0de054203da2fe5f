/** Commands for the health of destinations, and for issues: what fails, and what is done about it. */
import type { Schema } from '@tailrace/api';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { done, type Columns } from '../api/show.ts';
import type { Outcome } from '../command.ts';
import { apiCommand, choice, listCommand, text, type Declared } from '../declare.ts';
import { formatCount } from '../terminal/table.ts';

type Issue = Schema['Issue'];

const healthColumns: Columns<Schema['DestinationWithHealth']> = {
  DESTINATION: ({ destination }) => destination.id,
  HEALTH: ({ health }) => (health ? `${health.state}${outageOf(health)}` : '-'),
  DELIVERED: ({ health }) => (health && health.attempts > 0 ? shareOf(health) : '-'),
  ATTEMPTS: ({ health }) => (health ? formatCount(health.attempts) : '-'),
  'LAST SUCCESS': ({ health }) => health?.lastSuccessAt ?? '-',
  PENDING: ({ health }) => (health ? formatCount(health.pending) : '-'),
};

function outageOf({ outage }: Schema['DestinationHealth']): string {
  if (outage?.state === 'disabled') return `, failing since ${outage.since}`;
  return outage?.disablesAt === undefined ? '' : `, disabled at ${outage.disablesAt} unless it recovers`;
}

/** Never rounded up to 100 %. */
function shareOf({ delivered, attempts }: Schema['DestinationHealth']): string {
  return `${Math.floor((delivered / attempts) * 1_000) / 10} %`;
}

const issueColumns: Columns<Issue> = {
  DESTINATION: ({ destinationId }) => destinationId,
  REASON: ({ reason }) => reason,
  STATE: ({ state }) => state,
  ATTEMPTS: ({ attempts }) => formatCount(attempts),
  DEAD: ({ dead }) => formatCount(dead),
  FIRST: ({ firstAt }) => firstAt,
  LAST: ({ lastAt }) => lastAt,
  DELIVERY: ({ deliveryId }) => deliveryId ?? '-',
  NOTE: ({ mark }) => mark?.note ?? '-',
};

const ofIssue = {
  '<destination>': 'the id of the destination',
  '<reason>': 'the reason, as "get issues" shows it',
};
const note = text('<text>', 'a note for others, of at most 500 characters');

interface Marked {
  readonly destination: string;
  readonly reason: string;
  readonly note?: string;
}

async function mark(
  { destination, reason, note }: Marked,
  state: Issue['state'],
  { api }: ApiContext,
): Promise<Outcome> {
  const body = { state, ...(note !== undefined && { note }) };
  const issue = await api.send<Issue>('PUT', pathOf('destinations', destination, 'issues', reason), body);
  return done(`${destination} ${reason}: ${issue.state}.`, issue);
}

export const issueCommands: readonly Declared[] = [
  listCommand({
    words: 'get health',
    summary: 'list the health of destinations, worst first',
    description:
      'List the health of destinations, worst first: failing, retrying, healthy, no-traffic, paused or disabled. DELIVERED is the share of ' +
      'the attempts of the last hour. HEALTH also says when disableAfter will disable a destination, or since when it had ' +
      'only failed when it was disabled.',
    options: {
      source: text('<id>', 'only destinations connected to this source'),
      search: text('<text>', 'only destinations with this in their id or name'),
    },
    examples: ['get health', 'get health --source web'],
    path: 'destination-health',
    noun: 'destination',
    columns: healthColumns,
  }),
  listCommand({
    words: 'get issues',
    summary: 'list what fails, by destination and reason',
    description:
      'List what fails, by destination and reason, with the latest delivery that failed so. Open issues are first.',
    options: {
      destination: text('<id>', 'only issues of this destination'),
      state: choice('<state>', 'only issues in this state', ['open', 'acknowledged', 'dismissed']),
    },
    examples: ['get issues', 'get issues --destination crm --state open'],
    path: 'issues',
    noun: 'issue',
    columns: issueColumns,
  }),
  apiCommand({
    words: 'issue acknowledge',
    summary: 'mark an issue as being worked on',
    description: 'Mark an issue as being worked on. It stays acknowledged while it fails.',
    arguments: ofIssue,
    options: { note },
    examples: ["issue acknowledge crm timeout --note 'Ada asks the provider'"],
    request: (values, context) => mark(values, 'acknowledged', context),
  }),
  apiCommand({
    words: 'issue dismiss',
    summary: 'dismiss an issue until it fails again',
    description: 'Dismiss an issue. It reopens when it fails again.',
    arguments: ofIssue,
    options: { note },
    examples: ['issue dismiss crm client-error'],
    request: (values, context) => mark(values, 'dismissed', context),
  }),
  apiCommand({
    words: 'issue reopen',
    summary: 'reopen an issue',
    description: 'Reopen an issue that was acknowledged or dismissed. Its note is removed.',
    arguments: ofIssue,
    examples: ['issue reopen crm timeout'],
    request: (values, context) => mark(values, 'open', context),
  }),
];
