/**
 * What is kept of failed requests, for those who ask why a receiver refused them. Each destination may write some bytes of it in a
 * minute, so that a flood of failures grows no topic. Nothing is decided by it, and no delivery waits for it.
 */
import { encodeExchanges, type UrlExchange } from '@tailrace/records';
import { describeExchange, type KeptExchange } from '@tailrace/webhook';
import type { UrlResult } from '../delivery.ts';

const minuteMs = 60_000;
const overLimit: UrlExchange = { omitted: 'limit' };

export class Exchanges {
  readonly #limit: number;
  /** Bytes of this minute, by destination. Attempts are made for existing destinations only, so this is bounded. */
  readonly #used = new Map<string, number>();
  #minuteBegan = performance.now();

  /** @param limit bytes of one destination in a minute */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The text of the header {@link exchangesHeader}; undefined where nothing is kept of any request. */
  encode(destinationId: string, results: readonly UrlResult[]): string | undefined {
    if (!results.some(keptOf)) return undefined;
    const used = this.#usedBy(destinationId);
    if (used < this.#limit) {
      const text = encodeExchanges(results.map(describe));
      const total = used + Buffer.byteLength(text);
      // One that does not fit uses up the minute: the next ones need not be written to find out.
      this.#used.set(destinationId, total);
      if (total <= this.#limit) return text;
    }
    return encodeExchanges(results.map((result) => keptOf(result) && overLimit));
  }

  #usedBy(destinationId: string): number {
    if (performance.now() - this.#minuteBegan >= minuteMs) {
      this.#used.clear();
      this.#minuteBegan = performance.now();
    }
    return this.#used.get(destinationId) ?? 0;
  }
}

/** Resolves when nothing more is kept of the answers, at the latest with the time limits of their requests. Undefined where nothing is kept. */
export function answersEnded(results: readonly UrlResult[]): Promise<unknown> | undefined {
  const ends = results.flatMap((result) => keptOf(result)?.ended ?? []);
  return ends.length === 0 ? undefined : Promise.all(ends);
}

function keptOf({ answer }: UrlResult): KeptExchange | undefined {
  return answer.kind === 'success' ? undefined : answer.exchange;
}

function describe(result: UrlResult): UrlExchange | undefined {
  const kept = keptOf(result);
  const { target, requestHeaders = [], made, latencyMs } = result;
  const exchange = kept && describeExchange(kept, { target, requestHeaders, made, latencyMs });
  return exchange && Object.keys(exchange).length > 0 ? exchange : undefined;
}
