/** The tracking API: calls, batches and pixels, in every form of their paths that an SDK uses. */
import type { IncomingMessage } from 'node:http';
import type { Source } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { callTypes, type CallType } from '@tailrace/events';
import type { Acceptor, BatchOutcome, Hold, Origin } from './accept.ts';
import { answer, jsonAnswer, success, type Answer } from './answer.ts';
import { batchLimit, callLimit, decompress, readJson, type BodyLimit } from './body.ts';
import { readBody } from './intake.ts';
import { recordsBytes, rejectionsBytes, unitBytesOf } from './memory-costs.ts';
import type { MemoryShare } from './memory.ts';
import type { IngestObserver } from './observe.ts';
import { batchOperation, callOperation, pixelOperation } from './openapi.ts';
import type { Route } from './route.ts';
import { headerKeyOf, writeKeysOf, type HeaderKey, type SourceFinder } from './write-key.ts';

export interface TrackingDependencies {
  readonly sources: SourceFinder;
  readonly acceptor: Acceptor;
  readonly observer: IngestObserver;
}

/** The one-letter form of each is what browsers use. */
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
  ...['content-type', 'image/gif'],
  ...['cache-control', 'no-store'],
]);

export function trackingRoutes({ sources, acceptor, observer }: TrackingDependencies): Route[] {
  /** The body after decompression, and the source where it is known from the header alone. */
  const receive = async (exchange: Exchange, limit: BodyLimit): Promise<Received> => {
    const { request, headerKey, memory } = exchange;
    const known = headerKey && sources.known([headerKey.key]);
    if (known) memory.belongTo(known.id);
    const reading = readBody(request, limit, memory);
    let body: Buffer;
    let source = known;
    if (known || !headerKey?.decides) {
      body = await reading.body;
    } else {
      try {
        // The key may be refused long before the end of the body.
        [body, source] = await Promise.all([reading.body, sources.find([headerKey.key])]);
      } catch (error) {
        reading.stop();
        throw error;
      }
    }
    observer.received(body.length);
    return { bytes: decompress(body, request.headers['content-encoding'], limit), source };
  };

  /**
   * Parses the body and has it accepted in one turn: what it is parsed into can take a hundred times its size, and is
   * never held while something is awaited. Where the source has to be looked for meanwhile, the body is parsed again.
   */
  const enter = <T>(
    exchange: Exchange,
    limit: BodyLimit,
    received: Received,
    accept: Accept<T>,
  ): Promise<T> => {
    const { request, headerKey, memory } = exchange;
    const { bytes } = received;
    const input = readJson(bytes);
    const source = received.source ?? sources.known(writeKeysOf(headerKey, input));
    if (source) {
      memory.belongTo(source.id);
      return accept(input, bytes.length, originOf(request, source), holder(memory, limit, bytes));
    }
    memory.ask(bytes.length, limit.exceeded);
    const found = sources.find(writeKeysOf(headerKey, input));
    return found.then((source) => enter(exchange, limit, { bytes, source }, accept));
  };

  const callRoutes = (type: CallType): Route[] => [
    {
      name: type,
      method: 'POST',
      paths: [`/v1/${type}`, `/v1/${letters[type]}`],
      operation: callOperation(type),
      async handle(request, _target, memory) {
        const exchange = exchangeOf(request, memory);
        await receive(exchange, callLimit).then((received) =>
          enter(exchange, callLimit, received, (input, _bytes, origin, hold) =>
            acceptor.call(type, input, origin, hold),
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
      async handle(request, { query }, memory) {
        const received = { bytes: pixelData(query.get('data')), source: undefined };
        await enter(exchangeOf(request, memory), callLimit, received, (input, _bytes, origin, hold) =>
          acceptor.call(type, input, origin, hold),
        );
        return pixel;
      },
    },
  ];

  const batchAnswer = ({ accepted, rejected }: BatchOutcome): Answer => {
    const [first] = rejected;
    if (!first) return success;
    if (accepted > 0) return jsonAnswer(200, JSON.stringify({ success: true, rejected }));
    observer.refused(first.code);
    const { code } = first;
    const message = `No call of the batch can be used. The first: ${first.message}`;
    return jsonAnswer(new TailraceError(code).status, JSON.stringify({ code, message, rejected }));
  };

  const batchRoute: Route = {
    name: 'batch',
    method: 'POST',
    paths: ['/v1/batch', '/v1/b', '/v1/import'],
    operation: batchOperation,
    handle(request, _target, memory) {
      const exchange = exchangeOf(request, memory);
      return receive(exchange, batchLimit)
        .then((received) => enter(exchange, batchLimit, received, (...entered) => acceptor.batch(...entered)))
        .then(batchAnswer);
    },
  };

  return [...callTypes.flatMap(callRoutes), batchRoute];
}

/** A request, and what is held for it. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly headerKey: HeaderKey | undefined;
  readonly memory: MemoryShare;
}

function exchangeOf(request: IncomingMessage, memory: MemoryShare): Exchange {
  return { request, headerKey: headerKeyOf(request.headers), memory };
}

type Accept<T> = (input: unknown, bodyBytes: number, origin: Origin, hold: Hold) => Promise<T>;

interface Received {
  /** The body after decompression. */
  readonly bytes: Buffer;
  readonly source: Source | undefined;
}

/** Has `memory` hold what is left of the request `bytes` while it waits for Kafka. The closure does not keep `bytes`. */
function holder(memory: MemoryShare, limit: BodyLimit, bytes: Buffer): Hold {
  const unitBytes = unitBytesOf(bytes);
  return (records, rejected) => {
    memory.ask(recordsBytes(records, unitBytes) + rejectionsBytes(rejected), limit.exceeded);
  };
}

/** W3C Trace Context, section 3.2: version, trace id and parent id, none of them invalid, and flags. */
const validTraceparent = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

function originOf({ headers: { traceparent } }: IncomingMessage, source: Origin['source']): Origin {
  const valid = typeof traceparent === 'string' && validTraceparent.test(traceparent);
  return { source, receivedAt: Date.now(), ...(valid && { traceparent }) };
}

/** base64 or base64url; a plus sign that was not escaped has become a space on its way. */
function pixelData(data: string | null): Buffer {
  if (data !== null) return Buffer.from(data.replaceAll(' ', '+'), 'base64');
  throw new TailraceError('malformed-json', 'The call is missing. Give it as `data`, in base64.');
}
