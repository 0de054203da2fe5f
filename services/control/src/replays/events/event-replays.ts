/**
 * The replays of events of an instance. Those to one destination run one after another: each reads what the one before has sent.
 */
import { replayEvents, type EventReplayDependencies, type EventReplayOrder } from './replay-events.ts';

/** Each may hold a table of what was sent, of 64 MB. */
const atOnce = 4;

export class EventReplays {
  readonly #deps: EventReplayDependencies;
  /** By destination, settles when the replay that was requested last has ended. */
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #running = new Set<Promise<unknown>>();

  constructor(deps: EventReplayDependencies) {
    this.#deps = deps;
  }

  /**
   * Whether it was interrupted. Aborted while it waits, it never begins.
   *
   * @throws TailraceError as `replayEvents`
   */
  async run(order: EventReplayOrder & { readonly onTurn: () => void }): Promise<boolean> {
    const { selection, dryRun, signal, onTurn } = order;
    const { destinationId } = selection;
    // A count sends nothing.
    const before = dryRun ? undefined : this.#last.get(destinationId);
    const replay = this.#untilTurn(before, signal).then(async () => {
      while (this.#running.size >= atOnce && !signal.aborted)
        await this.#untilTurn(Promise.race(this.#running), signal);
      if (signal.aborted) return true;
      onTurn();
      const running = replayEvents(this.#deps, order);
      const over = running.catch(() => undefined);
      this.#running.add(over);
      void over.then(() => this.#running.delete(over));
      return running;
    });
    if (dryRun) return replay;
    // The next waits for those before this one too, where this one is aborted.
    const ended = Promise.allSettled([before, replay]);
    this.#last.set(destinationId, ended);
    void ended.then(() => {
      if (this.#last.get(destinationId) === ended) this.#last.delete(destinationId);
    });
    return replay;
  }

  async #untilTurn(before: Promise<unknown> | undefined, signal: AbortSignal): Promise<void> {
    if (!before) return;
    const aborted = Promise.withResolvers<undefined>();
    const abort = (): void => {
      aborted.resolve(undefined);
    };
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    await Promise.race([before, aborted.promise]);
    signal.removeEventListener('abort', abort);
  }
}
