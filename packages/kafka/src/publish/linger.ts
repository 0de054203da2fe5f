/**
 * Whether records wait for others, so that they share a request. It pays while records arrive independently of each other. It
 * does not pay where few records arrive, or where the senders wait for their acknowledgements: then all of them are waiting.
 *
 * - `off`: records are sent immediately. Ends when a request in flight shows that a record would meet another one on average,
 *   `restMs` after the last wait that did not pay.
 * - `on`: records wait. Ends when too few records arrive in the second half of the waits. Senders that wait for their
 *   acknowledgements all arrive in the first half.
 */
type LingerState =
  | { readonly kind: 'off'; readonly until: number }
  | { readonly kind: 'on'; readonly lateArrivals: number };

const restMs = 2_000;
/** The weight of the past, against that of one request. */
const past = 0.95;
const pastWait = 15 / 16;
/** The mean number of records in the second half of a wait, below which waiting ends. */
const leastLateArrivals = 0.25;
/** Of what arrives faster, requests are large without a wait: enough arrives while another one is in flight. */
const enoughPerMs = 2;

export class Linger {
  readonly #mostMs: number;
  #state: LingerState = { kind: 'off', until: -Infinity };
  /** Records that arrived while requests were in flight, and for how long these were. */
  #arrived = 0;
  #inFlightMs: number;

  /** @param mostMs how long a record may wait; 0: none waits */
  constructor(mostMs: number) {
    this.#mostMs = mostMs;
    // As if nothing had arrived for a while, so that the first records do not decide alone.
    this.#inFlightMs = mostMs * 5;
  }

  /** How long a record that arrived at `since` still waits; 0 if it does not. */
  leftMs(since: number, now: number): number {
    return this.#state.kind === 'on' ? Math.max(0, since + this.#mostMs - now) : 0;
  }

  /** Whether so many records need not wait for more. */
  isEnough(records: number): boolean {
    return records >= this.#mostMs * enoughPerMs;
  }

  /** @param request its records, in the order in which they arrived */
  sending(request: readonly { readonly since: number }[], now: number): void {
    const [first] = request;
    if (this.#state.kind === 'off' || !first) return;
    const middle = first.since + this.#mostMs / 2;
    const late = request.filter(({ since }) => since > middle).length;
    const mean = this.#state.lateArrivals * pastWait + late * (1 - pastWait);
    // Not more, so that it ends soon when fewer records arrive.
    const lateArrivals = Math.min(1, mean);
    this.#state =
      lateArrivals < leastLateArrivals ? { kind: 'off', until: now + restMs } : { kind: 'on', lateArrivals };
  }

  /** @param arrived the number of records that arrived while the request was in flight */
  answered(inFlightMs: number, arrived: number, now: number): void {
    this.#arrived = this.#arrived * past + arrived;
    this.#inFlightMs = this.#inFlightMs * past + inFlightMs;
    if (this.#state.kind === 'on' || now < this.#state.until) return;
    const expected = (this.#arrived / this.#inFlightMs) * this.#mostMs;
    if (expected >= 1) this.#state = { kind: 'on', lateArrivals: 2 * leastLateArrivals };
  }
}
