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

export interface SourceProgress {
  readonly sourceId: string;
  readonly destinations: readonly string[];
  /** Events written to `events`, one for each user. */
  readonly sent: number;
  /** Deliveries of these events, one for each destination. `waiting`: neither delivered nor dead, or unknown. */
  readonly delivered: number;
  readonly dead: number;
  readonly waiting: number;
}

export function progressOf(request: DeletionRequest, outcomes: OutcomeLookup): SourceProgress[] {
  return request.sources.map(({ sourceId, destinations }, nth) => {
    const sent = sentOf(request, nth);
    const ids = Array.from({ length: sent }, (_, user) => deletionEventId(request.id, sourceId, user));
    let delivered = 0;
    let dead = 0;
    for (const outcome of outcomes.outcomesOfEvents(ids).values()) {
      delivered += outcome.delivered.length;
      dead += outcome.dead.length;
    }
    // Negative where a destination that was connected after the request received the events too.
    const waiting = Math.max(0, sent * destinations.length - delivered - dead);
    return { sourceId, destinations, sent, delivered, dead, waiting };
  });
}
