/**
 * The deliveries that recalls may have in flight beside those of the consumer group, so that recalled deliveries flow at
 * the pace of their receivers, and memory is bounded.
 */

/** For one destination, and for all; the memory is that of bodies. */
const most = { ofOne: 200, records: 1_000, bytes: 4 * 2 ** 20 };
/** The part of what is free that one recall may use, so that slow ones together leave capacity for others. */
const share = 0.5;

export class Budget {
  #records = 0;
  #bytes = 0;

  /** @param inFlight the number of deliveries that this recall has in flight */
  admits(inFlight: number, bytes: number): boolean {
    const limit = Math.max(1, Math.min(most.ofOne, (most.records - this.#records) * share));
    return inFlight < limit && (inFlight === 0 || this.#bytes + bytes <= most.bytes);
  }

  acquire(bytes: number): void {
    this.#records += 1;
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#records -= 1;
    this.#bytes -= bytes;
  }
}
