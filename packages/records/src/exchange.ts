/**
 * What was sent and answered in the failed requests of an attempt: a header of its record in `attempts`, and of the dead letter. In
 * the value, a control of an earlier release would show it to read-only tokens without a mask.
 */
import type { ConsumedRecord } from '@tailrace/kafka';
import Type from 'typebox';
import type { ValueOf } from './json.ts';

export const exchangesHeader = 'exchanges';

const texts = (description: string) =>
  Type.Optional(Type.Record(Type.String(), Type.String(), { description }));
const time = (description: string) => Type.Optional(Type.Number({ description }));

export const exchangeSchema = Type.Object({
  address: Type.Optional(
    Type.String({ description: 'the address and port that was dialled, such as 203.0.113.7:443' }),
  ),
  proxy: Type.Optional(
    Type.String({ description: 'that of the egress proxy, in place of `address`, such as 10.0.0.7:3128' }),
  ),
  dnsMs: time('the name look-up; absent, as the next two, on a connection that was open'),
  connectMs: time('the TCP connection; through the egress proxy, until its tunnel is open'),
  tlsMs: time('the TLS handshake'),
  answerMs: time('from then to the headers of the response'),
  requestHeaders: texts('as sent; values of the configuration are masked'),
  responseHeaders: texts('some headers of the response'),
  responseBody: Type.Optional(Type.String({ description: 'the first KB' })),
  omitted: Type.Optional(
    Type.Enum(['rest', 'binary', 'limit'], {
      description:
        'what is missing: rest: the body was longer, or did not arrive in time; binary: the body is compressed or not text; limit: all of it, ' +
        'because the destination had used its bytes of this minute',
    }),
  ),
});

export type UrlExchange = ValueOf<typeof exchangeSchema>;

/** @param exchanges one for each URL of the attempt; undefined where none is kept */
export function encodeExchanges(exchanges: readonly (UrlExchange | undefined)[]): string {
  return JSON.stringify(exchanges);
}

/** The results of an attempt, with what the record has of their exchanges. */
export function withExchanges<Result extends object>(
  urls: readonly Result[],
  { headers }: Pick<ConsumedRecord, 'headers'>,
): readonly (Result & { readonly exchange?: UrlExchange })[] {
  const exchanges = listIn(headers[exchangesHeader]);
  if (exchanges.length === 0) return urls;
  return urls.map((url, place) => {
    const exchange = exchanges[place];
    return exchange && typeof exchange === 'object' ? { ...url, exchange } : url;
  });
}

function listIn(text: Buffer | undefined): readonly unknown[] {
  if (!text) return [];
  try {
    const list: unknown = JSON.parse(text.toString());
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}
