/** `tailrace why` with --around: reads the topics themselves, for events that the history does not have. */
import type { FinishedOffsets } from '@tailrace/kafka';
import { topicNames } from '@tailrace/topology';
import { exitCodes, type CommandContext, type ExitCode, type Outcome } from '../../command.ts';
import { withKafka } from '../../kafka.ts';
import { printable } from '../../terminal/table.ts';
import type { Period } from './read-topic.ts';
import { searchTopics } from './search.ts';
import { storyLines, type Story } from './text.ts';
import { deliveriesOf, gapsOf, isConsumed, outcomeOf } from './verdict.ts';

export interface SearchValues {
  readonly eventId: string;
  readonly period: Period;
  readonly user?: string | undefined;
  readonly allPartitions: boolean;
}

/** Of the JSON. A later version only adds fields. */
const formatVersion = 1;

export function searchKafka(values: SearchValues, context: CommandContext): Promise<Outcome> {
  const { eventId, period, user, allPartitions } = values;
  const signal = context.terminal.interruption();
  return withKafka(
    context,
    async (kafka, { prefix }, secretKeys) => {
      const names = topicNames(prefix);
      const { matches, truncated, topics } = await searchTopics(kafka, names, {
        eventId,
        period,
        user,
        allPartitions,
        secretKeys,
        signal,
        now: Date.now(),
        onProgress: (text) => context.terminal.progress(text),
      });
      const gaps = gapsOf(topics);
      const outcome = outcomeOf(matches, gaps);
      const event = matches.find(({ kind }) => kind === 'event');
      const routed = outcome === 'accepted' && event ? await isRouted(event) : undefined;
      const sorted = matches.toSorted((a, b) => a.at.localeCompare(b.at));
      const story: Story = {
        eventId,
        period,
        outcome,
        matches: sorted,
        deliveries: deliveriesOf(matches, await finishedOf(matches)),
        topics,
        gaps,
        routed,
      };
      if (truncated) context.warn('There are more records of this id than are shown.');
      return {
        exitCode: exitCodeOf(outcome, signal),
        text: storyLines(story).map(printable),
        json: {
          version: formatVersion,
          eventId,
          outcome,
          routed: routed ?? null,
          truncated,
          period: { from: new Date(period.from).toISOString(), until: new Date(period.until).toISOString() },
          records: sorted,
          deliveries: story.deliveries,
          searched: topics,
          notSearched: gaps,
        },
      };

      /** What the delivery group has finished in the topics of these records. Undefined if that cannot be read. */
      async function finishedOf(found: Story['matches']): Promise<FinishedOffsets | undefined> {
        const consumed = new Set(found.filter(isConsumed).map(({ topic }) => topic));
        if (consumed.size === 0) return undefined;
        return kafka.finished(`${prefix}delivery`, [...consumed]).catch(() => undefined);
      }

      /** Whether the router has committed an offset above the record. Undefined if that cannot be read. */
      async function isRouted({
        topic,
        partition,
        offset,
      }: Story['matches'][number]): Promise<boolean | undefined> {
        try {
          const { heads } = await kafka.inspectGroup(`${prefix}router`, [topic]);
          return (heads.get(topic)?.get(partition) ?? Infinity) > offset;
        } catch {
          return undefined;
        }
      }
    },
    { timeLimit: false },
  );
}

function exitCodeOf(outcome: Story['outcome'], signal: AbortSignal): ExitCode {
  if (signal.aborted) return exitCodes.interrupted;
  return outcome === 'not-searched' ? exitCodes.failed : exitCodes.done;
}
