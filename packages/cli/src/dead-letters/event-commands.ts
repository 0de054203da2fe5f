/** The command that sends past events again. */
import type { Schema } from '@tailrace/api';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { done } from '../api/show.ts';
import {
  apiCommand,
  choice,
  eventTypes,
  flag,
  integer,
  repeatable,
  required,
  text,
  withDefault,
  type Declared,
} from '../declare.ts';
import { countOf } from '../terminal/table.ts';
import { untilEnded } from './replay-progress.ts';

async function filterIn(file: string, context: Pick<ApiContext, 'input'>): Promise<unknown> {
  const { readFilter } = await import('../configuration/data-file.ts');
  return readFilter(file, context);
}

export const eventReplayCommands: readonly Declared[] = [
  apiCommand({
    words: 'replay events',
    summary: 'send past events to a destination again',
    description:
      'Send past events to a destination, as far back as Kafka keeps them. They are routed with the present configuration of ' +
      'the destination, so one that was connected, enabled or repaired today gets events from before.\n\n' +
      'By default only events that the destination was not sent are sent: filtered, sent while it was disabled or not ' +
      'connected, or dead letters. They have the delivery id that they always had. "--mode all" sends all events, those ' +
      'that it was sent with a new delivery id, for a receiver that has lost them.\n\n' +
      'The control service does it and sends each event once, whatever is restarted; Ctrl-C ends only the wait.',
    options: {
      destination: required(text('<id>', 'the id of the destination')),
      from: required(text('<time>', 'events accepted from this time on')),
      until: text('<time>', 'only events accepted before this time (default: now)'),
      topic: text('<topic>', 'read restored events from this topic, such as tailrace.events.restore'),
      source: repeatable('<id>', 'only events of this source'),
      type: repeatable('<type>', `only calls of this type: ${eventTypes.slice(0, -1).join(', ')}`),
      event: repeatable('<name>', 'only this event, page or screen; * stands for any text'),
      user: text('<user>', 'only events of this user'),
      filter: text('<file>', 'only events that pass this filter, in YAML or JSON; - for standard input'),
      mode: withDefault(choice('<mode>', 'what to send', ['missing', 'all']), 'missing'),
      rate: withDefault(integer('send at most N a second', 1, 100_000), 50),
      allowOverlap: flag('also send what another replay may send'),
      dryRun: flag('count the events without sending them'),
      wait: flag('wait until it is done'),
    },
    examples: [
      'replay events --destination crm --from 2026-05-01 --until 2026-05-02 --dry-run',
      'replay events --destination crm --from 1d --mode all --wait',
      "replay events --destination crm --from 7d --event 'Order*' --rate 200",
    ],
    async request({ source, type, event, user, filter, rate, wait, dryRun = false, ...same }, context) {
      const { api, terminal } = context;
      const order = {
        kind: 'events',
        ...same,
        sources: source,
        types: type,
        events: event,
        userId: user,
        ...(filter !== undefined && { filter: await filterIn(filter, context) }),
        ratePerSecond: rate,
        dryRun,
      };
      const replay = await api.send<Schema['StartedReplay']>('POST', pathOf('replays'), order);
      if (wait || dryRun) return untilEnded(replay, { api, terminal });
      const { estimate, id } = replay;
      const about = estimate ? `, about ${countOf(estimate.events, 'event')}` : '';
      return done(
        [`Requested as replay ${id}${about}.`, `To see the progress: tailrace get replay ${id}`],
        replay,
      );
    },
  }),
];
