/** The progress of a deletion request: events sent, from the request; delivery outcomes, from the history. */
import { deletionEventId, sentOf, type DeletionRequest } from './request.ts';

/** The outcomes of an event's deliveries: ids of destinations. */
interface EventOutcomes {
  readonly delivered: readonly string[];
  readonly dead: readonly string[];
}

export interface OutcomeLookup {
  /** By messageId; events unknown to the history are left out. */
  outcomesOfEvents(eventIds: readonly string[]): ReadonlyMap<string, EventOutcomes>;
}

/** Deliveries of events that were written. `waiting`: neither delivered nor dead, or unknown. */
interface Outcomes {
  readonly delivered: number;
  readonly dead: number;
  readonly waiting: number;
}

export interface SourceProgress extends Outcomes {
  readonly sourceId: string;
  readonly destinations: readonly string[];
  /** Events written to `events`, one for each user. */
  readonly sent: number;
  readonly byDestination: readonly (Outcomes & { readonly destinationId: string })[];
}

export function progressOf(request: DeletionRequest, outcomes: OutcomeLookup): SourceProgress[] {
  return request.sources.map(({ sourceId, destinations }, nth) => {
    const sent = sentOf(request, nth);
    const ids = Array.from({ length: sent }, (_, user) => deletionEventId(request.id, sourceId, user));
    const ended = { delivered: new Map<string, number>(), dead: new Map<string, number>() };
    for (const outcome of outcomes.outcomesOfEvents(ids).values()) {
      for (const end of ['delivered', 'dead'] as const) {
        for (const id of outcome[end]) ended[end].set(id, (ended[end].get(id) ?? 0) + 1);
      }
    }
    const of = (delivered: number, dead: number, all: number): Outcomes => ({
      delivered,
      dead,
      // Negative where a destination that was connected after the request received the events too.
      waiting: Math.max(0, all - delivered - dead),
    });
    const sum = (counts: ReadonlyMap<string, number>): number =>
      [...counts.values()].reduce((total, count) => total + count, 0);
    return {
      sourceId,
      destinations,
      sent,
      ...of(sum(ended.delivered), sum(ended.dead), sent * destinations.length),
      byDestination: destinations.map((destinationId) => ({
        destinationId,
        ...of(ended.delivered.get(destinationId) ?? 0, ended.dead.get(destinationId) ?? 0, sent),
      })),
    };
  });
}
