/**
 * What people have said about issues, for all instances and also after the history was rebuilt: records of the topic `destinations.health`
 * beside those of `operations/reported.ts`, with the key `issue/<destination>/<reason>`.
 *
 * Bounded: one record for each destination and reason of a failure, with a note of 500 characters. Those of deleted destinations are removed
 * with the next change.
 */
import type { ConfigView } from '@tailrace/config';
import type { Kafka } from '@tailrace/kafka';
import { objectIn } from '@tailrace/records';
import type { IssueMark } from './issue.ts';

const prefix = 'issue/';
const giveUpAfterMs = 10_000;
/** Records of deleted destinations that one change removes. */
const removedTogether = 100;

export type IssueMarks = Awaited<ReturnType<typeof openIssueMarks>>;

/** Resolves once the topic is read to its end. */
export async function openIssueMarks(
  kafka: Pick<Kafka, 'follow' | 'publisher'>,
  topic: string,
  config: Pick<ConfigView, 'destination'>,
) {
  const marks = new Map<string, IssueMark>();
  const follower = await kafka.follow({
    topic,
    onRecord({ key, value }) {
      const name = key?.toString() ?? '';
      if (!name.startsWith(prefix)) return;
      const mark = objectIn<IssueMark>(value) as IssueMark | undefined;
      if (mark) marks.set(name, mark);
      else marks.delete(name);
    },
  });
  const publisher = kafka.publisher({ giveUpAfterMs });
  const write = (key: string, mark: IssueMark | undefined): Promise<void> =>
    publisher.publish({ topic, partition: 0, key, value: mark ? JSON.stringify(mark) : null });
  return {
    find: (destinationId: string, reason: string) => marks.get(keyOf(destinationId, reason)),
    /** Replaces the mark, or removes it. Resolves once it is known here. @throws TailraceError `kafka-unavailable` */
    async put(destinationId: string, reason: string, mark: IssueMark | undefined): Promise<void> {
      const ofDeleted = [...marks.keys()].filter((key) => !config.destination(destinationOf(key)));
      await Promise.all([
        write(keyOf(destinationId, reason), mark),
        ...ofDeleted.slice(0, removedTogether).map((key) => write(key, undefined)),
      ]);
      await follower.refresh();
    },
    refresh: () => follower.refresh(),
    close: () => follower.close(),
  };
}

/** Ids hold no slash. */
function keyOf(destinationId: string, reason: string): string {
  return `${prefix}${destinationId}/${reason}`;
}

function destinationOf(key: string): string {
  return key.split('/')[1] ?? '';
}
