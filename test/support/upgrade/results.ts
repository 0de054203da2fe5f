/** The effects of an upgrade on the work: the pauses of each step, and retries that came late. */
import type { ConsumedRecord } from '@tailrace/kafka';
import { headerOf } from '../kafka/topics.ts';
import { owedTo, type Entry } from '../oracle/ledger.ts';

/** The longest time between `from` and `until` that had none of these times, all in milliseconds since the epoch. */
export function longestPause(times: readonly number[], from: number, until: number): number {
  const during = times.filter((at) => at > from && at < until).sort((one, other) => one - other);
  return Math.max(...[...during, until].map((at, place) => at - (during[place - 1] ?? from)));
}

/** How long after its due time the latest retry of a tier was requested, in milliseconds. */
export function mostLateMs(tier: readonly ConsumedRecord[], entries: readonly Entry[]): number {
  const asked = Map.groupBy(
    entries.filter(({ what }) => what === 'asked'),
    owedTo,
  );
  return Math.max(
    ...tier.map((record) => {
      const [eventId = '', destinationId = ''] = ['event-id', 'destination-id'].map((name) =>
        headerOf(record, name),
      );
      const requests = asked.get(owedTo({ eventId, destinationId })) ?? [];
      const next = requests.find(({ at }) => at > record.timestamp);
      return (next?.at ?? NaN) - Date.parse(headerOf(record, 'due-at') ?? '');
    }),
  );
}
