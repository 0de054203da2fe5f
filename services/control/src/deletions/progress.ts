/** The progress of a deletion request: events sent, from the request; delivery outcomes, from the history. */
import type { DestinationOutcomes } from '@tailrace/history';
import { sentOf, type AffectedSource, type DeletionRequest } from './request.ts';

export interface SourceSent extends AffectedSource {
  /** Events written to `events`, one for each user. */
  readonly sent: number;
}

/** Deliveries of events that were written. `waiting`: neither delivered nor dead, or unknown. */
interface Outcomes {
  readonly delivered: number;
  readonly dead: number;
  readonly waiting: number;
}

export interface SourceProgress extends SourceSent, Outcomes {
  readonly byDestination: readonly (Outcomes & { readonly destinationId: string })[];
}

export function sentBySource(request: DeletionRequest): SourceSent[] {
  return request.sources.map((source, nth) => ({ ...source, sent: sentOf(request, nth) }));
}

/** @param outcomes of the events of the source, by destination */
export function progressOf(source: SourceSent, outcomes: readonly DestinationOutcomes[]): SourceProgress {
  const { destinations, sent } = source;
  const ended = new Map(outcomes.map((one) => [one.destinationId, one]));
  const of = (delivered: number, dead: number, all: number): Outcomes => ({
    delivered,
    dead,
    // Negative where a destination that was connected after the request received the events too.
    waiting: Math.max(0, all - delivered - dead),
  });
  const sum = (end: 'delivered' | 'dead'): number => outcomes.reduce((total, one) => total + one[end], 0);
  return {
    ...source,
    ...of(sum('delivered'), sum('dead'), sent * destinations.length),
    byDestination: destinations.map((destinationId) => {
      const { delivered = 0, dead = 0 } = ended.get(destinationId) ?? {};
      return { destinationId, ...of(delivered, dead, sent) };
    }),
  };
}
