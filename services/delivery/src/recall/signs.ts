/** What deliveries and circuit breakers show about receivers, as far as recalls after a recovery depend on it. */
export class Signs {
  /** Destinations with a failed delivery since their last recall. */
  readonly #failed = new Set<string>();
  readonly #listeners: ((destinationId: string) => void)[] = [];

  /** Calls `listener` from now on for each receiver that answers again. It should be cheap to call often. */
  onRecovery(listener: (destinationId: string) => void): void {
    this.#listeners.push(listener);
  }

  /** The receiver of a destination answers again. */
  recovered(destinationId: string): void {
    for (const listener of this.#listeners) listener(destinationId);
  }

  /** A delivery waits because of its receiver. Those that wait for their turn, or because of a pause, show nothing about it. */
  failed(destinationId: string): void {
    this.#failed.add(destinationId);
  }

  hasFailed(destinationId: string): boolean {
    return this.#failed.has(destinationId);
  }

  /** Forgets the failures of a destination, or of all. */
  forget(destinationId?: string): void {
    if (destinationId === undefined) this.#failed.clear();
    else this.#failed.delete(destinationId);
  }
}
