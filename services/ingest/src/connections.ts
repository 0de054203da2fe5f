/**
 * The requests of each connection that are not answered yet, or whose answer is not sent yet.
 *
 * node:http keeps every request that a client pipelines until those before it are answered, thousands out of one read
 * of 64 KB, and a client that does not read keeps its answers in memory. Both are bounded here.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { MemoryShare } from './memory.ts';

export interface Connections {
  /** Keeps `memory` for `request` until it is read and its answer sent, or the connection is closed. */
  begin(request: IncomingMessage, response: ServerResponse, memory: MemoryShare): void;
  /** The answer of `response` is written; the client has a minute to read it. */
  answered(request: IncomingMessage, response: ServerResponse): void;
  /** Whether other requests of the connection of `request` wait for their answers. */
  isPipelined(request: IncomingMessage): boolean;
  /** Whether the request that is arriving on `socket` has been answered already. */
  hasAnswered(socket: Socket): boolean;
}

/** SDKs wait for each answer before they send again. */
const maxUnanswered = 8;
/** For a client to read an answer, once it is written. */
const answerTimeoutMs = 60_000;
/** For the rest of a request that was answered before it was complete. */
const restTimeoutMs = 5_000;
const checkIntervalMs = 1_000;

interface Connection {
  readonly exchanges: Map<ServerResponse, Exchange>;
  /** Answered before it was complete. */
  answeredEarly: IncomingMessage | undefined;
}

interface Exchange {
  readonly memory: MemoryShare;
  answeredAt: number | undefined;
}

/** Watches the connections of `http`; `now` is in milliseconds. */
export function watchConnections(http: Server, now: () => number = () => performance.now()): Connections {
  const connections = new Map<Socket, Connection>();

  http.on('connection', (socket: Socket) => {
    const exchanges = new Map<ServerResponse, Exchange>();
    connections.set(socket, { exchanges, answeredEarly: undefined });
    boundPipeline(socket, () => exchanges.size >= maxUnanswered);
    socket.once('close', () => {
      connections.delete(socket);
      // node:http reports nothing of an answer that is still behind another one.
      for (const { memory } of exchanges.values()) memory.close();
    });
  });

  const timer = setInterval(() => {
    const time = now();
    for (const [socket, { exchanges, answeredEarly }] of connections) {
      const timeoutMs = answeredEarly?.complete === false ? restTimeoutMs : answerTimeoutMs;
      for (const { answeredAt = Infinity } of exchanges.values()) {
        if (answeredAt + timeoutMs <= time) socket.destroy();
      }
    }
  }, checkIntervalMs).unref();
  http.on('close', () => {
    clearInterval(timer);
  });

  return {
    begin(request, response, memory) {
      const exchanges = connections.get(request.socket)?.exchanges;
      if (!exchanges) {
        memory.close();
        return;
      }
      exchanges.set(response, { memory, answeredAt: undefined });
      const end = (): void => {
        if (!request.complete && !request.destroyed) {
          // Its headers are held for as long as its body arrives, although nothing is kept of that.
          request.on('close', end);
          return;
        }
        memory.close();
        exchanges.delete(response);
      };
      response.on('close', end);
    },
    isPipelined: ({ socket }) => (connections.get(socket)?.exchanges.size ?? 0) > 1,
    answered(request, response) {
      const connection = connections.get(request.socket);
      const exchange = connection?.exchanges.get(response);
      if (exchange) exchange.answeredAt = now();
      if (connection && !request.complete) connection.answeredEarly = request;
    },
    hasAnswered: (socket) => connections.get(socket)?.answeredEarly?.complete === false,
  };
}

/** What node:http calls for each request whose headers are complete, with the parser as `this`. */
interface HttpParser {
  onIncoming?: (request: IncomingMessage, shouldKeepAlive: boolean) => number;
}

/** The answer to the parser that makes it stop behind this request. */
const stopParsing = 2;

/**
 * Closes the connection where one more request comes while `isFull`. The event `request` would be too late: destroying the
 * socket there does not stop the parser, which goes on to make requests of the rest of what was read. So this wraps an
 * inner function of node:http; without it the test of pipelines fails.
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
