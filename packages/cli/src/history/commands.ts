import type { Command } from 'commander';
import {
  apiNotes,
  choice,
  eventTypes,
  group,
  integer,
  limitOption,
  notes,
  type Declare,
} from '../declare.ts';

export const declareHistory: Declare = (program, action) => {
  program
    .command('tail')
    .summary('show attempts as they happen')
    .description(
      'Show attempts as they happen, one line each, until Ctrl-C, which exits with 0. With --output json each line ' +
        'is a JSON object.\n\n' +
        'If the connection is lost, it is opened again with a message; attempts made in between are not shown.',
    )
    .option('--destination <id>', 'only attempts for this destination')
    .option('--source <id>', 'only events of this source')
    .addOption(choice('--type <type>', 'only calls of this type', eventTypes))
    .addOption(
      choice('--outcome <outcome>', 'only attempts with this outcome', ['delivered', 'retry', 'dead']),
    )
    .option('--event <event>', 'only this track event')
    .option('--user <user>', 'only events of this user')
    .addOption(integer('--count <n>', 'end after N attempts', 1, 1_000_000))
    .addHelpText(
      'after',
      apiNotes('tail', 'tail --destination crm --outcome dead', 'tail --count 1 --output json'),
    )
    .action(action(async () => (await import('./tail.ts')).tail));

  program
    .command('why')
    .summary('explain what happened to an event')
    .description(
      'Explain what happened to an event: its source, its destinations, the responses, and what to do.\n\n' +
        'An event without deliveries is searched in the topics, from --since on, which may take 20 seconds. Exits ' +
        'with 0 also if the event is not found.\n\n' +
        'With --around the topics themselves are read, without the control service: for events that the history does not ' +
        'have. All topics are searched for records of those minutes: accepted, waiting, rejected, deliveries, retries, ' +
        'dead letters, replays and attempts. With --user the partitions of that user come first, and all others only if ' +
        'nothing is found. The result lists the partitions and offsets that were searched, and those that were not, with ' +
        'the reason. Exits with 0 if the event is found, or if everything was searched; with 1 if it may be in a part that ' +
        'could not be searched. Ctrl-C ends the search and shows the result so far.',
    )
    .argument('<event-id>', 'the messageId of the event')
    .option('--since <time>', 'search events of this time or later (default: one day ago)')
    .option('--around <time>', 'read the topics, around this time of the record')
    .option('--within <duration>', 'with --around: this long before and after (default: 10m)')
    .option('--user <user>', 'with --around: the userId, or the anonymousId of a call without one')
    .option('--all-partitions', 'with --around: all partitions, also if the event is found in some')
    .addHelpText(
      'after',
      notes({
        examples: [
          'why 0b0f7c1e-6a54-4f0e-9d2c-3c1f0e8b7a55',
          'why order-1042 --since 7d',
          'why order-1042 --user ada --around 2026-05-01T08:30 --within 5h',
        ],
        reads: ['api', 'kafka'],
        times: true,
      }),
    )
    .action(action(async () => (await import('./why.ts')).why));

  const get = group(program, 'get');
  withPeriod(
    get
      .command('deliveries')
      .summary('list deliveries, newest first')
      .option('--destination <id>', 'only deliveries to this destination')
      .option('--source <id>', 'only events of this source')
      .addOption(choice('--type <type>', 'only calls of this type', eventTypes))
      .option('--event <event>', 'only this track event')
      .option('--user <user>', 'only events of this user')
      .addOption(
        choice('--status <status>', 'only deliveries with this status', [
          'waiting',
          'delivered',
          'retrying',
          'dead',
          'unknown',
        ]),
      ),
  )
    .addOption(limitOption())
    .addHelpText(
      'after',
      notes({
        examples: [
          'get deliveries',
          'get deliveries --destination crm --status dead --since 2h',
          "get deliveries --user ada --event 'Order Completed' --output json",
        ],
        reads: ['api'],
        times: true,
      }),
    )
    .action(action(async () => (await import('./deliveries.ts')).listDeliveries));
  withPeriod(
    get
      .command('decisions')
      .summary('list the events that destinations did not get, with the reason')
      .description(
        'List the events that connected destinations did not get, newest first, with the reason: one line for each event and ' +
          'destination, as the router decided then.',
      )
      .option(
        '--reason <reason>',
        'only this reason: disabled, integrations, schema, filter, suppressed or no-destination',
      )
      .option('--destination <id>', 'only events that this destination did not get')
      .option('--source <id>', 'only events of this source'),
  )
    .addOption(limitOption())
    .addHelpText(
      'after',
      notes({
        examples: ['get decisions', 'get decisions --destination crm --reason filter --since 2h'],
        reads: ['api'],
        times: true,
      }),
    )
    .action(action(async () => (await import('./decisions.ts')).listDecisions));
  get
    .command('delivery')
    .summary('show a delivery with every attempt and response')
    .argument('<id>', 'the id of the delivery')
    .option('--body', 'also show the body; a read-only token gets it with masked values')
    .addHelpText('after', apiNotes('get delivery 5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60 --body'))
    .action(action(async () => (await import('./deliveries.ts')).getDelivery));
  get
    .command('events')
    .summary('list the track events that sources have sent')
    .description(
      'List the track events that sources have sent: how often, first and last time, and whether they are blocked ' +
        '(see "tailrace block").',
    )
    .argument('[source]', 'the id of a source (default: all sources)')
    .addOption(limitOption())
    .addHelpText('after', apiNotes('get events web', 'get events'))
    .action(action(async () => (await import('./source-statistics.ts')).listSentEvents));
  withPeriod(
    get
      .command('stats')
      .summary('show the attempts of a destination by outcome, with latencies')
      .description('Show the attempts of a destination by outcome, with latencies (default: the last hour).')
      .argument('<id>', 'the id of the destination')
      .option(
        '--step <duration>',
        'whole minutes or hours, such as 5m (default: a sixtieth of the period, rounded up)',
      ),
  )
    .addHelpText(
      'after',
      notes({
        examples: ['get stats crm', 'get stats crm --since 1d --step 1h'],
        reads: ['api'],
        times: true,
      }),
    )
    .action(action(async () => (await import('./destination-statistics.ts')).getStats));
  withPeriod(
    get
      .command('overview')
      .summary('show the flow of all events, with the reason of each exit')
      .description(
        'Show the flow of all events (default: the last hour) beside the same time before: received, filtered, delivered, dead, each ' +
          'with its reason; and what is pending.',
      ),
  )
    .addHelpText(
      'after',
      notes({ examples: ['get overview', 'get overview --since 7d'], reads: ['api'], times: true }),
    )
    .action(action(async () => (await import('./overview.ts')).getOverview));
  get
    .command('pending')
    .summary('show what the deliveries of a destination wait for')
    .description(
      'Show what the deliveries of a destination wait for: retry topics, reasons, and the next attempt.',
    )
    .argument('<id>', 'the id of the destination')
    .addHelpText('after', apiNotes('get pending crm'))
    .action(action(async () => (await import('./overview.ts')).getPending));
  get
    .command('failures')
    .summary('show the failures of a destination by reason, with samples')
    .description(
      'Show the failures of a destination by reason, with the newest attempts (default: the last day).',
    )
    .argument('<id>', 'the id of the destination')
    .option('--since <time>', 'only from this time on')
    .addHelpText(
      'after',
      notes({ examples: ['get failures crm', 'get failures crm --since 2h'], reads: ['api'], times: true }),
    )
    .action(action(async () => (await import('./destination-statistics.ts')).getFailures));
  withPeriod(
    get
      .command('usage')
      .summary('show the number of calls of sources by day')
      .description('Show the number of calls of sources by day, in UTC. Filtered calls are included.')
      .argument('[source]', 'the id of a source (default: all sources)'),
  )
    .addHelpText(
      'after',
      notes({ examples: ['get usage', 'get usage web --since 30d'], reads: ['api'], times: true }),
    )
    .action(action(async () => (await import('./source-statistics.ts')).getUsage));
};

function withPeriod(command: Command): Command {
  return command
    .option('--since <time>', 'only from this time on')
    .option('--until <time>', 'only before this time');
}
