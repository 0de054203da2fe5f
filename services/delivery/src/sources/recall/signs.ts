/** What deliveries and circuit breakers show about receivers, as far as recalls after a recovery depend on it. */
export class Signs {
  /**
   * Destinations with a delivery that waits because of its receiver, since their last recall. Those that wait for their turn, or
   * because of a pause, show nothing about it.
   */
  readonly failed = new Set<string>();
  readonly #listeners: ((destinationId: string) => void)[] = [];

  /** Calls `listener` from now on for each receiver that answers again. It should be cheap. */
  onRecovery(listener: (destinationId: string) => void): void {
    this.#listeners.push(listener);
  }

  recovered(destinationId: string): void {
    for (const listener of this.#listeners) listener(destinationId);
  }
}
