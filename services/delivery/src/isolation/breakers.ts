/** The circuit breakers of all destinations, by destination and URL. */
import { Breaker, type BreakerState, type Permission } from './breaker.ts';

export interface BreakerChange {
  readonly destinationId: string;
  readonly url: string;
  readonly state: BreakerState;
}

/** Twice the number of URLs of a destination, so that URLs that were replaced are removed in the end. */
const mostUrls = 10;

/** URLs are given by their fingerprint. Time is that of `performance.now()`. */
export class Breakers {
  readonly #mostProbes: number;
  readonly #onChange: (change: BreakerChange) => void;
  /** By destination and URL; URLs in the order of their first use. */
  readonly #breakers = new Map<string, Map<string, Breaker>>();
  readonly #counts = { open: 0, 'half-open': 0 };

  /** @param mostProbes probes in flight at the same time */
  constructor(mostProbes: number, onChange: (change: BreakerChange) => void) {
    this.#mostProbes = mostProbes;
    this.#onChange = onChange;
  }

  /** The number of URLs whose breaker is in this state. */
  count(state: 'open' | 'half-open'): number {
    return this.#counts[state];
  }

  /** Whether no request to this URL is permitted now. */
  isBlocked(destinationId: string, url: string): boolean {
    return this.#known(destinationId, url)?.isBlocked(performance.now()) ?? false;
  }

  stateOf(destinationId: string, url: string): Pick<Breaker, 'state' | 'since'> {
    return this.#known(destinationId, url) ?? { state: 'closed', since: -Infinity };
  }

  /** Returns whether to send a request to this URL. After `send` or `probe` the caller has to `report` the result. */
  permit(destinationId: string, url: string): Permission {
    const breaker = this.#breaker(destinationId, url);
    if (breaker.state !== 'closed' && this.#counts['half-open'] >= this.#mostProbes) return 'park';
    return breaker.permit(performance.now());
  }

  report(destinationId: string, url: string, succeeded: boolean): void {
    this.#breaker(destinationId, url).report(succeeded, performance.now());
  }

  /** Returns in how many milliseconds the calling delivery makes the next probe; undefined where another one does. */
  claimProbe(destinationId: string, url: string): number | undefined {
    return this.#known(destinationId, url)?.claimProbe(performance.now());
  }

  /** Whether all breakers of the destination are closed, and no last request failed. */
  isIdle(destinationId: string): boolean {
    const breakers = this.#breakers.get(destinationId);
    if (breakers) for (const breaker of breakers.values()) if (!breaker.isIdle) return false;
    return true;
  }

  /** Removes the idle breakers of all destinations for which `isUsed` is false. */
  forgetIdle(isUsed: (destinationId: string) => boolean): void {
    for (const id of this.#breakers.keys()) if (!isUsed(id) && this.isIdle(id)) this.#breakers.delete(id);
  }

  #known(destinationId: string, url: string): Breaker | undefined {
    return this.#breakers.get(destinationId)?.get(url);
  }

  #breaker(destinationId: string, url: string): Breaker {
    let ofDestination = this.#breakers.get(destinationId);
    if (!ofDestination) this.#breakers.set(destinationId, (ofDestination = new Map<string, Breaker>()));
    let breaker = ofDestination.get(url);
    if (!breaker) {
      const [oldest] = ofDestination;
      if (oldest && ofDestination.size >= mostUrls) {
        ofDestination.delete(oldest[0]);
        oldest[1].forget();
      }
      breaker = new Breaker((state, before) => {
        if (before !== 'closed') this.#counts[before] -= 1;
        if (state !== 'closed') this.#counts[state] += 1;
        this.#onChange({ destinationId, url, state });
      });
      ofDestination.set(url, breaker);
    }
    return breaker;
  }
}
