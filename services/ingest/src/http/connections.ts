/**
 * Tracks the requests of each connection whose response is not sent yet.
 *
 * node:http keeps every pipelined request until the earlier ones are answered, thousands from one read of 64 KB,
 * and a client that does not read leaves its responses in memory. Both are bounded here.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { MemoryShare } from '../memory/budget.ts';

/** SDKs wait for each response before the next request. */
const maxUnanswered = 8;
/** Limit for a client to read a response, after it is written. */
const answerTimeoutMs = 60_000;
/** Limit for the rest of a request that was answered early. */
const restTimeoutMs = 5_000;
const checkIntervalMs = 1_000;

interface Connection {
  readonly exchanges: Map<ServerResponse, Exchange>;
  /** The request that was answered before it was complete. */
  answeredEarly: IncomingMessage | undefined;
}

interface Exchange {
  readonly memory: MemoryShare;
  answeredAt: number | undefined;
}

export function watchConnections(http: Server) {
  const connections = new Map<Socket, Connection>();

  http.on('connection', (socket: Socket) => {
    const exchanges = new Map<ServerResponse, Exchange>();
    connections.set(socket, { exchanges, answeredEarly: undefined });
    boundPipeline(socket, () => exchanges.size >= maxUnanswered);
    socket.once('close', () => {
      connections.delete(socket);
      // node:http emits no event for a response that waits behind another one.
      for (const { memory } of exchanges.values()) memory.close();
    });
  });

  const timer = setInterval(() => {
    const time = performance.now();
    for (const [socket, { exchanges, answeredEarly }] of connections) {
      const timeoutMs = answeredEarly?.complete === false ? restTimeoutMs : answerTimeoutMs;
      for (const { answeredAt = Infinity } of exchanges.values()) {
        if (answeredAt + timeoutMs <= time) socket.destroy();
      }
    }
  }, checkIntervalMs).unref();
  http.on('close', () => clearInterval(timer));

  return {
    /** Keeps `memory` until `request` is read and its response sent, or the connection closes. */
    begin(request: IncomingMessage, response: ServerResponse, memory: MemoryShare): void {
      const exchanges = connections.get(request.socket)?.exchanges;
      if (!exchanges) {
        memory.close();
        return;
      }
      exchanges.set(response, { memory, answeredAt: undefined });
      const end = (): void => {
        if (!request.complete && !request.destroyed) {
          // The headers stay in memory while the body arrives, although the body is discarded.
          request.on('close', end);
          return;
        }
        memory.close();
        exchanges.delete(response);
      };
      response.on('close', end);
    },
    /** Whether other requests of the same connection wait for their responses. */
    isPipelined: ({ socket }: IncomingMessage): boolean => (connections.get(socket)?.exchanges.size ?? 0) > 1,
    /** Records that the response is written. The client has a minute to read it. */
    answered(request: IncomingMessage, response: ServerResponse): void {
      const connection = connections.get(request.socket);
      const exchange = connection?.exchanges.get(response);
      if (exchange) exchange.answeredAt = performance.now();
      if (connection && !request.complete) connection.answeredEarly = request;
    },
    /** Whether the request that is arriving on `socket` was already answered. */
    hasAnswered: (socket: Socket): boolean => connections.get(socket)?.answeredEarly?.complete === false,
  };
}

/** The function that node:http calls for each request with complete headers, with the parser as `this`. */
interface HttpParser {
  onIncoming?: (request: IncomingMessage, shouldKeepAlive: boolean) => number;
}

/** The return value that makes the parser stop after this request. */
const stopParsing = 2;

/**
 * Closes the connection where a further request arrives while `isFull`. The event `request` would be too late:
 * destroying the socket there does not stop the parser, which continues with the rest of the read. So this wraps an
 * internal function of node:http. The test of pipelines fails where Node no longer calls it.
 */
function boundPipeline(socket: Socket, isFull: () => boolean): void {
  const { parser } = socket as Socket & { readonly parser?: HttpParser | null };
  const onIncoming = parser?.onIncoming;
  if (!parser || !onIncoming) return;
  parser.onIncoming = (request, shouldKeepAlive) => {
    if (!isFull() && !socket.destroyed) return onIncoming(request, shouldKeepAlive);
    socket.destroy();
    return stopParsing;
  };
}
