/**
 * What recalls may have under way beside what the group reads: so that what is brought forward flows at the pace at which
 * receivers take it, and memory is bounded.
 */

/** Of one destination, and of all; the memory is that of bodies. */
const most = { ofOne: 200, records: 1_000, bytes: 4 * 2 ** 20 };
/** Of what is free, the part that one may take, so that slow ones together leave room for others. */
const share = 0.5;

export class Budget {
  #records = 0;
  #bytes = 0;

  /** @param underWay how many records this recall has under way */
  hasRoom(underWay: number, bytes: number): boolean {
    const limit = Math.max(1, Math.min(most.ofOne, (most.records - this.#records) * share));
    return underWay < limit && (underWay === 0 || this.#bytes + bytes <= most.bytes);
  }

  take(bytes: number): void {
    this.#records += 1;
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#records -= 1;
    this.#bytes -= bytes;
  }
}
