/** Commands that show deliveries, what was decided about events, and what the history counts. */
import type { Schema } from '@tailrace/api';
import { pathOf } from '../api/path.ts';
import type { Columns } from '../api/show.ts';
import {
  apiCommand,
  choice,
  command,
  eventTypes,
  flag,
  integer,
  limit,
  listCommand,
  period,
  repeatable,
  required,
  text,
  type Declared,
} from '../declare.ts';
import { formatCount, jsonText } from '../terminal/table.ts';
import { deliveryLines } from './delivery-text.ts';
import { failuresOf, overviewOf, pendingOf, statsOf } from './statistics.ts';
import { sentEvents, usage } from './source-statistics.ts';

const deliveryColumns: Columns<Schema['Delivery']> = {
  CREATED: ({ createdAt }) => createdAt,
  STATUS: ({ status }) => status,
  REASON: ({ reason }) => reason ?? '-',
  DESTINATION: ({ destinationId }) => destinationId,
  TYPE: ({ type }) => type,
  EVENT: ({ event }) => event ?? '-',
  USER: ({ userKey }) => userKey,
  ATTEMPTS: ({ attempts }) => formatCount(attempts),
  DELIVERY: ({ deliveryId }) => deliveryId,
};

const decisionColumns: Columns<Schema['FilteredEvent']> = {
  DECIDED: ({ decidedAt }) => decidedAt,
  REASON: ({ reason }) => reason,
  RULE: ({ rule }) => rule?.text ?? '-',
  DESTINATION: ({ destinationId }) => destinationId ?? '-',
  SOURCE: ({ sourceId }) => sourceId,
  TYPE: ({ type }) => type,
  EVENT: ({ event }) => event ?? '-',
  USER: ({ userKey }) => userKey,
  'EVENT ID': ({ eventId }) => eventId,
};

const ofEvents = {
  source: text('<id>', 'only events of this source'),
  type: choice('<type>', 'only calls of this type', eventTypes),
};
const ofUsers = {
  event: text('<event>', 'only this track event'),
  user: text('<user>', 'only events of this user'),
};
const ofDestination = { '<id>': 'the id of the destination' };
const ofSource = { '[source]': 'the id of a source (default: all sources)' };

export const historyCommands: readonly Declared[] = [
  apiCommand({
    words: 'tail',
    summary: 'show attempts as they happen',
    description:
      'Show attempts as they happen, one line each, until Ctrl-C, which exits with 0. With --output json each line ' +
      'is a JSON object.\n\n' +
      'If the connection is lost, it is opened again with a message; attempts made in between are not shown.',
    options: {
      destination: text('<id>', 'only attempts for this destination'),
      ...ofEvents,
      outcome: choice('<outcome>', 'only attempts with this outcome', ['delivered', 'retry', 'dead']),
      ...ofUsers,
      count: integer('end after N attempts', 1, 1_000_000),
    },
    examples: ['tail', 'tail --destination crm --outcome dead', 'tail --count 1 --output json'],
    request: async (values, context) => (await import('./tail.ts')).tail(values, context),
  }),
  apiCommand({
    words: 'calls',
    summary: 'show the calls of a source as they arrive, and what becomes of them',
    description:
      'Show the calls of a source as they arrive, until Ctrl-C, which exits with 0: one line for a call, and one for each later ' +
      'change of its outcome. Outcomes are accepted, waiting (for its schema), routed, blocked, filtered, no-destination, repeated and ' +
      'rejected, with the reason. With --output json each line is a JSON object, the first of a call with its content.\n\n' +
      'Of the calls that ingest refuses, a sample is shown. If the connection is lost, it is opened again with a message; calls in ' +
      'between are not shown.',
    arguments: { '<source>': 'the id of the source' },
    options: { ...ofUsers, count: integer('end after N lines', 1, 1_000_000) },
    examples: ['calls web', "calls web --event 'Order Completed' --user ada", 'calls web --output json'],
    request: async (values, context) => (await import('./tail.ts')).calls(values, context),
  }),
  apiCommand({
    words: 'listen',
    summary: 'forward copies of the deliveries of a destination to a URL of yours',
    description:
      'Forward copies of the deliveries of a destination to a URL that this machine reaches, such as a server on your own machine, ' +
      'until Ctrl-C, which exits with 0: one line for each, with the answer. With --output json each line is a JSON object.\n\n' +
      'A copy has the body and the signature of the real request, so the server needs the secret of the destination. The headers of ' +
      'its URLs and of auth are left out: set those of your server with --header. The destination gets its deliveries as always, ' +
      'and your answers change nothing. Each delivery is forwarded once, without retries, new ones as well as replayed and ' +
      'resent ones.\n\n' +
      'Requests begin in the order of the deliveries, ten at a time, or one at a time for a destination with ordering: user. What a ' +
      'slow server does not keep up with is dropped, and counted. If the connection is lost, it is opened again with a message; deliveries ' +
      'made in between are not forwarded. The token needs the scope write; each use is in the audit log.',
    options: {
      destination: required(text('<id>', 'the id of the destination')),
      forward: required(text('<url>', 'the URL to send the copies to')),
      header: repeatable(
        '<header>',
        "a header to add, 'Name: value'; the value may be env:NAME or file:PATH",
      ),
      ...ofUsers,
      count: integer('end after N deliveries', 1, 1_000_000),
    },
    examples: [
      'listen --destination crm --forward http://localhost:3000/hook',
      "listen --destination crm --forward http://localhost:3000/hook --event 'Order Completed' --user ada",
      "listen --destination crm --forward http://localhost:3000/hook --header 'Authorization: env:DEV_AUTH'",
    ],
    request: async (values, context) => (await import('./listen.ts')).listen(values, context),
  }),
  command({
    words: 'why',
    summary: 'explain what happened to an event',
    description:
      'Explain what happened to an event: its source, its destinations, the responses, and what to do.\n\n' +
      'An event without deliveries is searched in the topics, from --since on, which may take 20 seconds. Exits ' +
      'with 0 also if the event is not found.\n\n' +
      'With --around the topics themselves are read, without the control service: for events that the history does not ' +
      'have. All topics are searched for records of those minutes: accepted, waiting, rejected, deliveries, retries, ' +
      'dead letters, replays and attempts. With --user the partitions of that user come first, and all others only if ' +
      'nothing is found. The result lists the partitions and offsets that were searched, and those that were not, with ' +
      'the reason. Exits with 0 if the event is found, or if everything was searched; with 1 if it may be in a part that ' +
      'could not be searched. Ctrl-C ends the search and shows the result so far.',
    arguments: { '<event-id>': 'the messageId of the event' },
    options: {
      since: text('<time>', 'search events of this time or later (default: one day ago)'),
      around: text('<time>', 'read the topics, around this time of the record'),
      within: text('<duration>', 'with --around: this long before and after (default: 10m)'),
      user: text('<user>', 'with --around: the userId, or the anonymousId of a call without one'),
      allPartitions: flag('with --around: all partitions, also if the event is found in some'),
    },
    examples: [
      'why 0b0f7c1e-6a54-4f0e-9d2c-3c1f0e8b7a55',
      'why order-1042 --since 7d',
      'why order-1042 --user ada --around 2026-05-01T08:30 --within 5h',
    ],
    reads: ['api', 'kafka'],
    run: async (values, context) => (await import('./why.ts')).why(values, context),
  }),
  listCommand({
    words: 'get deliveries',
    summary: 'list deliveries, newest first',
    options: {
      destination: text('<id>', 'only deliveries to this destination'),
      ...ofEvents,
      ...ofUsers,
      status: choice('<status>', 'only deliveries with this status', [
        'waiting',
        'delivered',
        'retrying',
        'dead',
        'unknown',
      ]),
      ...period(),
    },
    examples: [
      'get deliveries',
      'get deliveries --destination crm --status dead --since 2h',
      "get deliveries --user ada --event 'Order Completed' --output json",
    ],
    path: 'deliveries',
    noun: 'delivery',
    columns: deliveryColumns,
    queryOf: ({ user, ...filter }) => ({ ...filter, userId: user }),
  }),
  listCommand({
    words: 'get decisions',
    summary: 'list the events that destinations did not get, with the reason',
    description:
      'List the events that connected destinations did not get, newest first, with the reason: one line for each event and ' +
      'destination, as the router decided then.',
    options: {
      reason: text(
        '<reason>',
        'only this reason: disabled, integrations, schema, filter, sample, suppressed or no-destination',
      ),
      destination: text('<id>', 'only events that this destination did not get'),
      source: ofEvents.source,
      user: ofUsers.user,
      ...period(),
    },
    examples: [
      'get decisions',
      'get decisions --destination crm --reason filter --since 2h',
      'get decisions --user ada',
    ],
    path: 'decisions',
    noun: 'filtered event',
    columns: decisionColumns,
    queryOf: ({ user, ...filter }) => ({ ...filter, userId: user }),
  }),
  apiCommand({
    words: 'get delivery',
    summary: 'show a delivery with every attempt and response',
    arguments: { '<id>': 'the id of the delivery' },
    options: { body: flag('also show the body; a read-only token gets it with masked values') },
    examples: ['get delivery 5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60 --body'],
    async request({ id, body }, { api }) {
      const delivery = await api.get<Schema['DeliveryWithAttempts']>(pathOf('deliveries', id));
      const text = deliveryLines(delivery);
      if (!body) return { text, json: delivery };
      const content = await api.get<Schema['GetDeliveryBodyAnswer']>(pathOf('deliveries', id, 'body'));
      const heading = `body${content.masked ? ', values masked' : ''}`;
      const lines = jsonText(content.body, 2).split('\n');
      return { text: [...text, heading, ...lines], json: { ...delivery, body: content.body } };
    },
  }),
  apiCommand({
    words: 'get events',
    summary: 'list the track events that sources have sent',
    description:
      'List the track events that sources have sent: how often, first and last time, and whether they are blocked ' +
      '(see "tailrace block").',
    arguments: ofSource,
    options: limit(),
    examples: ['get events web', 'get events'],
    request: sentEvents,
  }),
  apiCommand({
    words: 'get stats',
    summary: 'show the attempts of a destination by outcome, with latencies',
    description: 'Show the attempts of a destination by outcome, with latencies (default: the last hour).',
    arguments: ofDestination,
    options: {
      step: text(
        '<duration>',
        'whole minutes or hours, such as 5m (default: a sixtieth of the period, rounded up)',
      ),
      ...period(),
    },
    examples: ['get stats crm', 'get stats crm --since 1d --step 1h'],
    request: async ({ id, ...query }, { api }) =>
      statsOf(await api.get(pathOf('destinations', id, 'stats'), query)),
  }),
  apiCommand({
    words: 'get overview',
    summary: 'show the flow of all events, with the reason of each exit',
    description:
      'Show the flow of all events (default: the last hour) beside the same time before: received, filtered, delivered, dead, each ' +
      'with its reason; and what is pending.',
    options: period(),
    examples: ['get overview', 'get overview --since 7d'],
    request: async (query, { api }) => overviewOf(await api.get(pathOf('overview'), query)),
  }),
  apiCommand({
    words: 'get pending',
    summary: 'show what the deliveries of a destination wait for',
    description:
      'Show what the deliveries of a destination wait for: retry topics, reasons, and the next attempt.',
    arguments: ofDestination,
    examples: ['get pending crm'],
    request: async ({ id }, { api }) => pendingOf(await api.get(pathOf('destinations', id, 'pending'))),
  }),
  apiCommand({
    words: 'get failures',
    summary: 'show the failures of a destination by reason, with samples',
    description:
      'Show the failures of a destination by reason, with the newest attempts (default: the last day).',
    arguments: ofDestination,
    options: { since: period().since },
    examples: ['get failures crm', 'get failures crm --since 2h'],
    request: async ({ id, since }, { api }) =>
      failuresOf(await api.get(pathOf('destinations', id, 'failures'), { since })),
  }),
  apiCommand({
    words: 'get usage',
    summary: 'show the number of calls of sources by day',
    description: 'Show the number of calls of sources by day, in UTC. Filtered calls are included.',
    arguments: ofSource,
    options: period(),
    examples: ['get usage', 'get usage web --since 30d'],
    request: usage,
  }),
];
