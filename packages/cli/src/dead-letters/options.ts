/** What the commands about dead letters have in common, whether they use Kafka or the API. */
import { choice, eventTypes, flag, integer, period, text, withDefault } from '../declare.ts';
import { countOf } from '../terminal/table.ts';

/** Which dead letters. */
export const filterOptions = {
  destination: text('<id>', 'only this destination'),
  reason: text('<reason>', 'only this reason, such as client-error'),
  type: choice('<type>', 'only calls of this type', eventTypes),
  event: text('<event>', 'only this track event'),
  user: text('<user>', 'only events of this user'),
  ...period('dead letters written'),
};

export const replayOptions = {
  rate: withDefault(integer('publish at most N a second', 1, 100_000), 50),
  dryRun: flag('count the dead letters without replaying them'),
};

/** @param count of the dead letters that a replay left out */
export function notReplayed(count: number): string {
  return `${countOf(count, 'dead letter')} cannot be replayed: malformed, or without a body because the user was deleted.`;
}
