/** What became of a call: what the router did with it, as far as it is known. */
import type { Decision } from '@tailrace/records';

export const callOutcomes = [
  /** In Kafka, and not routed yet. */
  'accepted',
  /** The router has no schema for it yet. */
  'waiting',
  'routed',
  'blocked',
  'filtered',
  'no-destination',
  'repeated',
  'rejected',
] as const;

export type CallOutcome = (typeof callOutcomes)[number];

/** Why a call cannot be used. */
export interface Rejection {
  readonly code: string;
  readonly message: string;
  /** The status that its sender was answered with; undefined where that was 200, or the sender is a Kafka producer. */
  readonly status: number | undefined;
}

/** Ids that are kept of the destinations of a call. */
const maxDestinations = 100;

export class Fate {
  rejection: Rejection | undefined;
  decision: Pick<Decision, 'routed' | 'filtered'> | undefined;
  isWaiting = false;
  isRepeated = false;
  readonly #destinations = new Set<string>();

  /** The destinations with a delivery, by id: all, or the first ones. */
  get destinations(): readonly string[] {
    return [...this.#destinations].sort();
  }

  addDestination(id: string): void {
    if (this.#destinations.size < maxDestinations) this.#destinations.add(id);
  }

  get outcome(): CallOutcome {
    if (this.rejection) return 'rejected';
    const { routed = 0, filtered = [] } = this.decision ?? {};
    if (this.#destinations.size > 0 || routed > 0) return 'routed';
    if (this.decision) {
      if (filtered.length === 0) return 'no-destination';
      return filtered.every(({ reason }) => reason === 'schema') ? 'blocked' : 'filtered';
    }
    if (this.isRepeated) return 'repeated';
    return this.isWaiting ? 'waiting' : 'accepted';
  }
}
