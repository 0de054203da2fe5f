/** How far a deletion request is: what was sent, by the request itself, and what became of it, by the history. */
import { deletionEventId, sentOf, type DeletionRequest } from './request.ts';

/** What became of an event; each id is that of a destination. */
interface EventOutcomes {
  readonly delivered: readonly string[];
  readonly dead: readonly string[];
}

export interface OutcomeLookup {
  /** By messageId; events of which nothing is known are left out. */
  outcomesOfEvents(eventIds: readonly string[]): ReadonlyMap<string, EventOutcomes>;
}

export interface SourceProgress {
  readonly sourceId: string;
  readonly destinations: readonly string[];
  /** Notifications that have been written for the router, one for each user. */
  readonly sent: number;
  /** Deliveries of them, one for each destination. `waiting`: neither delivered nor dead, as far as is known. */
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
    // A destination that was connected after the request may have been told as well.
    const waiting = Math.max(0, sent * destinations.length - delivered - dead);
    return { sourceId, destinations, sent, delivered, dead, waiting };
  });
}
