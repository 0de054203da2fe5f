/** The tracking API: calls, batches and pixels, in every form of their paths that SDKs use. */
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Source } from '@tailrace/config';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import { callTypes, type CallType } from '@tailrace/events';
import type { TrustedProxies } from '@tailrace/service';
import type { Acceptor, BatchOutcome, ReadBatch, Reserve } from '../calls/accept.ts';
import type { Origin } from '../calls/records.ts';
import type { RefusedCalls } from '../calls/refused.ts';
import { answer, jsonAnswer, success, type Answer } from '../http/answer.ts';
import {
  batchLimit,
  callLimit,
  decompress,
  readJson,
  type Body,
  type BodyLimit,
} from '../http/decode-body.ts';
import { readBody } from '../http/read-body.ts';
import { recordsBytes, rejectionsBytes, unitBytesOf } from '../memory/costs.ts';
import type { MemoryShare } from '../memory/budget.ts';
import type { IngestMetrics } from '../metrics.ts';
import { batchOperation, callOperation, pixelOperation } from '../http/openapi.ts';
import type { Route } from '../http/router.ts';
import { createTurns } from '../calls/turns.ts';
import { headerKeyOf, writeKeysOf, type HeaderKey, type SourceFinder } from '../calls/write-key.ts';

export interface TrackingDependencies {
  readonly sources: SourceFinder;
  readonly acceptor: Acceptor;
  readonly refused: RefusedCalls;
  readonly proxies: TrustedProxies;
  readonly metrics: Pick<IngestMetrics, 'receivedBytes' | 'refusedRequests'>;
}

/** Parsing more takes milliseconds. */
const largeBytes = 64 * 1024;

/** Before the refusal of a large batch. */
const refusalPauseS = 1;

/** The one-letter forms are used by browsers. */
const letters: Readonly<Record<CallType, string>> = {
  track: 't',
  identify: 'i',
  page: 'p',
  screen: 's',
  group: 'g',
  alias: 'a',
};

/** A transparent GIF of one pixel. */
const pixel = answer(200, Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'), [
  'content-type',
  'image/gif',
  'cache-control',
  'no-store',
]);

export function trackingRoutes({
  sources,
  acceptor,
  refused,
  proxies,
  metrics,
}: TrackingDependencies): Route[] {
  const keepRefused = (source: Source | undefined, error: unknown, call?: Buffer): void => {
    if (source && isTailraceError(error)) refused.keep(source, error, { call });
  };

  /** Receives the decompressed body, and the source where the header identifies it. */
  const receive = async (exchange: Exchange, limit: BodyLimit): Promise<Received> => {
    const { request, headerKey, memory } = exchange;
    const known = headerKey && sources.known([headerKey.key]);
    if (known) memory.assignTo(known.id);
    const reading = readBody(request, limit, memory);
    let body: Buffer;
    let source = known;
    try {
      if (known || !headerKey?.decides) body = await reading.body;
      // An unknown key is refused before the end of the body.
      else [body, source] = await Promise.all([reading.body, sources.find([headerKey.key])]);
      metrics.receivedBytes.inc(body.length);
      return { bytes: decompress(body, request.headers['content-encoding'], limit), source };
    } catch (error) {
      reading.stop();
      keepRefused(source, error);
      throw error;
    }
  };

  const readJsonOf = ({ bytes, source }: Received): Body => {
    try {
      return readJson(bytes);
    } catch (error) {
      keepRefused(source, error, bytes);
      throw error;
    }
  };

  /** The body with its source; where that must be looked up, its keys. */
  const parse = (exchange: Exchange, limit: BodyLimit, received: Received): Parsed => {
    const { request, peer, headerKey, memory, traceparent } = exchange;
    const { bytes } = received;
    const { value, bytes: bodyBytes } = readJsonOf(received);
    const source = received.source ?? sources.known(writeKeysOf(headerKey, value));
    if (!source) {
      memory.reserve(bytes.length, limit.exceeded);
      return { keys: writeKeysOf(headerKey, value) };
    }
    memory.assignTo(source.id);
    const ip = source.addIp === true ? proxies.clientOf(peer, request.headers) : undefined;
    const origin = { source, receivedAt: Date.now(), bodyBytes, traceparent, ip };
    return { value, origin, reserve: reserver(memory, limit, bytes) };
  };

  /**
   * Parses the body and passes it on in the same turn of the event loop. The parsed form can be a hundred times
   * larger, so it is never held during a wait. Where the source must be looked up first, the body is parsed again
   * afterwards.
   */
  const parseAndAccept = <T>(
    exchange: Exchange,
    limit: BodyLimit,
    received: Received,
    accept: Accept<T>,
  ): Promise<T> => {
    const parsed = parse(exchange, limit, received);
    if (!('keys' in parsed)) return accept(parsed.value, parsed.origin, parsed.reserve);
    const { bytes } = received;
    return sources
      .find(parsed.keys)
      .then((source) => parseAndAccept(exchange, limit, { bytes, source }, accept));
  };

  const parsing = createTurns(1);
  /**
   * Large bodies are parsed one after another, in turns of the event loop of their own, and read in slices, so that small ones do not
   * wait behind all of them.
   */
  const readLarge = async (exchange: Exchange, { bytes, source }: Received): Promise<ReadBatch> => {
    exchange.memory.reserve(bytes.length, batchLimit.exceeded);
    const read = await parsing.take(source?.id ?? '', async () => {
      await nextTurn();
      const parsed = parse(exchange, batchLimit, { bytes, source });
      return 'keys' in parsed
        ? parsed
        : acceptor.batch(parsed.value, parsed.origin, parsed.reserve, nextTurn);
    });
    return 'keys' in read ? readLarge(exchange, { bytes, source: await sources.find(read.keys) }) : read;
  };

  const readBatch = (exchange: Exchange, received: Received): Promise<ReadBatch> =>
    received.bytes.length > largeBytes
      ? readLarge(exchange, received).catch((error: unknown) => refuseLate(error, exchange.memory))
      : parseAndAccept(exchange, batchLimit, received, (...parsed) => acceptor.batch(...parsed));

  const callRoutes = (type: CallType): Route[] => [
    {
      name: type,
      method: 'POST',
      paths: [`/v1/${type}`, `/v1/${letters[type]}`],
      operation: callOperation(type),
      async handle(request, _target, memory, traceparent) {
        const exchange = exchangeOf(request, memory, traceparent);
        await receive(exchange, callLimit).then((received) =>
          parseAndAccept(exchange, callLimit, received, (input, origin, reserve) =>
            acceptor.call(type, input, origin, reserve),
          ),
        );
        return success;
      },
    },
    {
      name: 'pixel',
      method: 'GET',
      paths: [`/v1/pixel/${type}`, `/v1/pixel/${letters[type]}`],
      operation: pixelOperation(type),
      async handle(request, { query }, memory, traceparent) {
        const received = { bytes: pixelData(query.get('data')), source: undefined };
        await parseAndAccept(
          exchangeOf(request, memory, traceparent),
          callLimit,
          received,
          (input, origin, reserve) => acceptor.call(type, input, origin, reserve),
        );
        return pixel;
      },
    },
  ];

  const batchAnswer = ({ accepted, rejected }: BatchOutcome): Answer => {
    const [first] = rejected;
    if (!first) return success;
    if (accepted > 0) return jsonAnswer(200, JSON.stringify({ success: true, rejected }));
    metrics.refusedRequests.inc({ code: first.code });
    const { code } = first;
    const message = `No call of the batch is valid. The first error: ${first.message}`;
    return jsonAnswer(new TailraceError(code).status, JSON.stringify({ code, message, rejected }));
  };

  const batchRoute: Route = {
    name: 'batch',
    method: 'POST',
    paths: ['/v1/batch', '/v1/b', '/v1/import'],
    operation: batchOperation,
    handle(request, _target, memory, traceparent) {
      const exchange = exchangeOf(request, memory, traceparent);
      return receive(exchange, batchLimit)
        .then((received) => readBatch(exchange, received))
        .then((batch) => batch.publish())
        .then(batchAnswer);
    },
  };

  return [...callTypes.flatMap(callRoutes), batchRoute];
}

/** A request and its memory share. */
interface Exchange {
  readonly request: IncomingMessage;
  /** The address of the connection, which a socket does not know any more once it is closed. */
  readonly peer: string | undefined;
  readonly headerKey: HeaderKey | undefined;
  readonly memory: MemoryShare;
  readonly traceparent: string | undefined;
}

function exchangeOf(
  request: IncomingMessage,
  memory: MemoryShare,
  traceparent: string | undefined,
): Exchange {
  const { headers, socket } = request;
  return { request, peer: socket.remoteAddress, headerKey: headerKeyOf(headers), memory, traceparent };
}

type Accept<T> = (input: unknown, origin: Origin, reserve: Reserve) => Promise<T>;

interface Received {
  /** The body after decompression. */
  readonly bytes: Buffer;
  readonly source: Source | undefined;
}

type Parsed =
  | { readonly value: unknown; readonly origin: Origin; readonly reserve: Reserve }
  | { readonly keys: readonly string[] };

/**
 * Refuses a large batch after a pause, because reading it took milliseconds: a sender shall not use the time of others with one refused
 * batch after another. A few hundred bytes may be one that is compressed.
 */
async function refuseLate(error: unknown, memory: MemoryShare): Promise<never> {
  if (!isTailraceError(error) || error.status >= 500) throw error;
  memory.set(0);
  await wait(refusalPauseS * 1_000);
  if (error.retryAfterS === undefined) throw error;
  const retryAfterS = Math.max(1, error.retryAfterS - refusalPauseS);
  throw new TailraceError(error.code, undefined, { retryAfterS });
}

/** Reserves the memory of the records that wait for Kafka. The closure does not keep `bytes`. */
function reserver(memory: MemoryShare, limit: BodyLimit, bytes: Buffer): Reserve {
  const unitBytes = unitBytesOf(bytes);
  return (records, rejected) =>
    memory.reserve(recordsBytes(records, unitBytes) + rejectionsBytes(rejected), limit.exceeded);
}

/** base64 or base64url. An unescaped plus sign arrives as a space. */
function pixelData(data: string | null): Buffer {
  if (data !== null) return Buffer.from(data.replaceAll(' ', '+'), 'base64');
  throw new TailraceError(
    'malformed-json',
    'The call is missing. Send it as the parameter `data`, in base64.',
  );
}
