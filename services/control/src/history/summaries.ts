/** Summaries that read many rows of the history, in slices. Each has a place, and ends when its client leaves or after 20 seconds. */
import { TailraceError } from '@tailrace/errors';
import type { FastifyReply } from 'fastify';
import { Places } from '../access/places.ts';

export const longestSummaryMs = 20_000;

export class Summaries {
  readonly #places = new Places('summaries');

  /**
   * @param read asks between two slices whether it may go on; undefined where it may not
   * @throws TailraceError `too-many-at-once`, `took-too-long`
   */
  async read<T>(
    { raw, request }: FastifyReply,
    read: (mayGoOn: () => boolean) => Promise<T | undefined>,
  ): Promise<T> {
    using _place = this.#places.take(request.caller);
    const until = performance.now() + longestSummaryMs;
    const summary = await read(() => !raw.closed && performance.now() < until);
    if (summary !== undefined) return summary;
    throw new TailraceError(
      'took-too-long',
      `The summary was not complete after ${longestSummaryMs / 1_000} seconds. Choose a shorter period.`,
    );
  }
}
