/** The circuit breakers of all destinations, by destination and URL, and that of the egress proxy. */
import { Breaker, type BreakerState } from './breaker.ts';

export interface BreakerChange {
  readonly destinationId: string;
  readonly url: string;
  readonly state: BreakerState;
}

/** A request that may be sent. Its result has to be reported. */
export interface Permit {
  /** A probe is the only request to a URL that is down. */
  readonly isProbe: boolean;
  /**
   * @param succeeded undefined where the URL was not reached, which shows nothing about it
   * @param isSent false where the request ended here, which shows nothing about the proxy
   */
  report(succeeded: boolean | undefined, isSent?: boolean): void;
}

/** The egress proxy, as far as breakers depend on it. Where it is down, nothing is known of the URLs behind it. */
export interface ProxyOptions {
  readonly isUsedBy: (destinationId: string) => boolean;
  readonly onChange: (state: BreakerState) => void;
}

/** The part of the probes that may be beside other URLs. The rest is for URLs that nothing else reaches. */
const besidePart = 0.5;

/** Twice the number of URLs of a destination and its token server, so that those that were replaced are removed in the end. */
const mostUrls = 12;

/** URLs, and token servers beside them, are given by their fingerprint. Time is that of `performance.now()`. */
export class Breakers {
  readonly #mostProbes: number;
  readonly #onChange: (change: BreakerChange) => void;
  /** By destination and URL; URLs in the order of their first use. */
  readonly #breakers = new Map<string, Map<string, Breaker>>();
  readonly #counts = { open: 0, 'half-open': 0 };
  /** The breakers that are not closed, and where they belong. */
  readonly #notClosed = new Map<Breaker, { readonly destinationId: string; readonly url: string }>();
  readonly #isProxied: (destinationId: string) => boolean;
  readonly #proxy: Breaker;

  /** @param mostProbes probes in flight at the same time */
  constructor(
    mostProbes: number,
    onChange: (change: BreakerChange) => void,
    proxy: ProxyOptions = { isUsedBy: () => false, onChange: () => undefined },
  ) {
    this.#mostProbes = mostProbes;
    this.#onChange = onChange;
    this.#isProxied = proxy.isUsedBy;
    this.#proxy = new Breaker(proxy.onChange);
  }

  /** For how many milliseconds that of the proxy has been open. */
  get proxyOpenFor(): number {
    return this.#proxy.state === 'closed' ? 0 : performance.now() - this.#proxy.since;
  }

  /** The number of URLs whose breaker is in this state. */
  count(state: 'open' | 'half-open'): number {
    return this.#counts[state];
  }

  /**
   * By destination, for how many milliseconds its breaker has been open that opened first. A breaker stays open while it
   * probes, and after its URL is not used any more: `isUsed` leaves out such URLs.
   */
  openFor(isUsed: (destinationId: string, url: string) => boolean): Map<string, number> {
    const now = performance.now();
    const longest = new Map<string, number>();
    for (const [{ since }, { destinationId, url }] of this.#notClosed) {
      if (!isUsed(destinationId, url)) continue;
      longest.set(destinationId, Math.max(longest.get(destinationId) ?? 0, now - since));
    }
    return longest;
  }

  /** Whether no request to this URL is permitted now. */
  isBlocked(destinationId: string, url: string): boolean {
    const now = performance.now();
    if (this.#isProxied(destinationId) && this.#proxy.isBlocked(now)) return true;
    return this.#breakers.get(destinationId)?.get(url)?.isBlocked(now) ?? false;
  }

  stateOf(destinationId: string, url: string): Pick<Breaker, 'state' | 'since'> {
    const known = this.#onTheWay(destinationId, url);
    const down = known.filter(({ state }) => state !== 'closed');
    const [first] = down;
    if (first) return { state: first.state, since: Math.min(...down.map(({ since }) => since)) };
    return { state: 'closed', since: Math.max(-Infinity, ...known.map(({ since }) => since)) };
  }

  /**
   * Returns for each URL of a delivery the permit of a request to it; undefined where its breaker permits none now. Where a
   * request is sent to one of them, the others are probed more often, so that one that recovers misses few.
   */
  permit(destinationId: string, urls: readonly string[]): readonly (Permit | undefined)[] {
    if (!this.#isProxied(destinationId)) return this.#permitEach(destinationId, urls);
    if (this.#proxy.isBlocked(performance.now())) return urls.map(() => undefined);
    const permits = this.#permitEach(destinationId, urls);
    if (permits.every((permit) => permit === undefined)) return permits;
    const isProbe = this.#proxy.permit(performance.now()) === 'probe';
    return permits.map(
      (permit) =>
        permit && {
          isProbe: isProbe || permit.isProbe,
          report: (succeeded, isSent = true) => {
            if (isSent) this.#proxy.report(succeeded !== undefined, performance.now());
            else this.#proxy.notSent();
            permit.report(succeeded);
          },
        },
    );
  }

  #permitEach(destinationId: string, urls: readonly string[]): readonly (Permit | undefined)[] {
    const alone = urls.map((url) => this.#permit(destinationId, url, false));
    if (!alone.includes(undefined) || !alone.some((permit) => permit?.isProbe === false)) return alone;
    return urls.map((url, place) => alone[place] ?? this.#permit(destinationId, url, true));
  }

  #permit(destinationId: string, url: string, beside: boolean): Permit | undefined {
    const breaker = this.#breaker(destinationId, url);
    const most = beside ? this.#mostProbes * besidePart : this.#mostProbes;
    if (breaker.state !== 'closed' && this.#counts['half-open'] >= most) return undefined;
    const permission = breaker.permit(performance.now(), beside);
    if (permission === 'park') return undefined;
    return {
      isProbe: permission === 'probe',
      report: (succeeded) => this.#breaker(destinationId, url).report(succeeded, performance.now()),
    };
  }

  /** The URL works. Where nothing is known of it, nothing is remembered. */
  worked(destinationId: string, url: string): void {
    this.#breakers.get(destinationId)?.get(url)?.report(true, performance.now());
  }

  /** Returns in how many milliseconds the calling delivery makes the next probe; undefined where another one does. */
  claimProbe(destinationId: string, url: string): number | undefined {
    const down = this.#onTheWay(destinationId, url).find(({ state }) => state !== 'closed');
    return down?.claimProbe(performance.now());
  }

  /** Whether all breakers of the destination are closed, and no last request failed. */
  isIdle(destinationId: string): boolean {
    const breakers = this.#breakers.get(destinationId);
    if (breakers) for (const breaker of breakers.values()) if (!breaker.isIdle) return false;
    return true;
  }

  /** Closes all breakers of the destination, because nothing is known of its receiver any more. */
  close(destinationId: string): void {
    for (const breaker of this.#breakers.get(destinationId)?.values() ?? []) breaker.forget();
  }

  /** Removes the idle breakers of all destinations for which `isUsed` is false. */
  forgetIdle(isUsed: (destinationId: string) => boolean): void {
    for (const id of this.#breakers.keys()) if (!isUsed(id) && this.isIdle(id)) this.#breakers.delete(id);
  }

  /** The breakers that a request to this URL depends on: that of the proxy before its own. */
  #onTheWay(destinationId: string, url: string): Breaker[] {
    const own = this.#breakers.get(destinationId)?.get(url);
    return [...(this.#isProxied(destinationId) ? [this.#proxy] : []), ...(own ? [own] : [])];
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
      const created = new Breaker((state, before) => {
        if (state === 'closed') this.#notClosed.delete(created);
        else this.#notClosed.set(created, { destinationId, url });
        if (before !== 'closed') this.#counts[before] -= 1;
        if (state !== 'closed') this.#counts[state] += 1;
        this.#onChange({ destinationId, url, state });
      });
      ofDestination.set(url, (breaker = created));
    }
    return breaker;
  }
}
