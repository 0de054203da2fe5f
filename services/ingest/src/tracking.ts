/** The tracking API: calls, batches and pixels, in every form of their paths that an SDK uses. */
import type { IncomingMessage } from 'node:http';
import { TailraceError } from '@tailrace/errors';
import { callTypes, type CallType } from '@tailrace/events';
import type { Acceptor, Origin } from './accept.ts';
import { answer, jsonAnswer, success } from './answer.ts';
import { batchLimit, callLimit, decompress, readJson, type BodyLimit, type Intake } from './body.ts';
import type { IngestObserver } from './observe.ts';
import { batchOperation, callOperation, pixelOperation } from './openapi.ts';
import type { Route } from './route.ts';
import { writeKeysOf, type SourceFinder } from './write-key.ts';

export interface TrackingDependencies {
  readonly findSource: SourceFinder;
  readonly acceptor: Acceptor;
  readonly intake: Intake;
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

export function trackingRoutes({ findSource, acceptor, intake, observer }: TrackingDependencies): Route[] {
  const read = async (request: IncomingMessage, limit: BodyLimit): Promise<ReadRequest> => {
    const body = await intake.read(request, limit);
    observer.received(body.length);
    const bytes = decompress(body, request.headers['content-encoding'], limit);
    const input = readJson(bytes);
    const source = await findSource(writeKeysOf(request.headers.authorization, input));
    return { input, bytes: bytes.length, origin: originOf(request, source) };
  };

  const callRoutes = (type: CallType): Route[] => [
    {
      name: type,
      method: 'POST',
      paths: [`/v1/${type}`, `/v1/${letters[type]}`],
      operation: callOperation(type),
      async handle(request) {
        const { input, origin } = await read(request, callLimit);
        await acceptor.call(type, input, origin);
        return success;
      },
    },
    {
      name: 'pixel',
      method: 'GET',
      paths: [`/v1/pixel/${type}`, `/v1/pixel/${letters[type]}`],
      operation: pixelOperation(type),
      async handle(request, { query }) {
        const input = readJson(pixelData(query.get('data')));
        const source = await findSource(writeKeysOf(request.headers.authorization, input));
        await acceptor.call(type, input, originOf(request, source));
        return pixel;
      },
    },
  ];

  const batchRoute: Route = {
    name: 'batch',
    method: 'POST',
    paths: ['/v1/batch', '/v1/b', '/v1/import'],
    operation: batchOperation,
    async handle(request) {
      const { input, bytes, origin } = await read(request, batchLimit);
      const { accepted, rejected } = await acceptor.batch(input, bytes, origin);
      const [first] = rejected;
      if (!first) return success;
      if (accepted > 0) return jsonAnswer(200, JSON.stringify({ success: true, rejected }));
      observer.refused(first.code);
      const { code } = first;
      const message = `No call of the batch can be used. The first: ${first.message}`;
      return jsonAnswer(new TailraceError(code).status, JSON.stringify({ code, message, rejected }));
    },
  };

  return [...callTypes.flatMap(callRoutes), batchRoute];
}

interface ReadRequest {
  readonly input: unknown;
  /** Size of the body after decompression. */
  readonly bytes: number;
  readonly origin: Origin;
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
