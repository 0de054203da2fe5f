/** The client of browsers, edge runtimes and workers: fetch. */
import { Client } from '../core/analytics.ts';
import type { AnyEvents, EventMap } from '../core/messages.ts';
import { batchUrl } from '../core/http-exchange.ts';
import { contextOf, positive, writeKeyOf, type HttpCommonOptions } from '../core/options.ts';
import { fetchTransport, type Fetch } from './fetch.ts';
import { webPlatform } from './platform.ts';

export interface FetchOptions extends HttpCommonOptions {
  /** Used in place of the global fetch. */
  readonly fetch?: Fetch | undefined;
}

export class Analytics<Events extends EventMap<Events> = AnyEvents> extends Client<Events> {
  /** @throws AnalyticsError `invalid-options`; its `field` is the option */
  constructor(options: FetchOptions) {
    const transport = fetchTransport({
      writeKey: writeKeyOf(options),
      url: batchUrl(options.endpoint).href,
      context: contextOf(options),
      timeoutMs: positive(options, 'timeoutMs', 10_000),
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    });
    super(options, { transport, platform: webPlatform });
  }
}
