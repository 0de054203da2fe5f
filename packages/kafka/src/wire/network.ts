/**
 * How the library sends requests, without what it wastes on each: a timer after every answer, a look at every connection
 * ten times a second, two copies into zeroed buffers. At low load these cost as much as the work on the records.
 */

/** The library's class for the requests of one connection; what is used of it here. */
export interface RequestQueue {
  readonly inflight: ReadonlyMap<number, PendingAnswer>;
  readonly pending: readonly unknown[];
  readonly enforceRequestTimeout: boolean;
  requestTimeoutIntervalId: NodeJS.Timeout | undefined;
  isConnected(): boolean;
  push(request: unknown): void;
  destroy(): void;
  scheduleCheckPendingRequests(): void;
  scheduleRequestTimeoutCheck(): void;
}

interface PendingAnswer {
  readonly sentAt: number;
  readonly requestTimeout: number;
  timeoutRequest(): void;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- TypeScript asks for it where a class is extended.
export type RequestQueueClass = new (...options: any[]) => RequestQueue;

/** Requests may take seconds. */
const timeoutCheckMs = 500;

/** With timers only while there is something to time: requests that wait for their answers, or to be sent. */
export function sparingQueue(Original: RequestQueueClass): RequestQueueClass {
  return class SparingQueue extends Original {
    override scheduleCheckPendingRequests(): void {
      if (this.pending.length > 0) super.scheduleCheckPendingRequests();
    }

    /** Called when a connection is made; looking begins with the first request. */
    override scheduleRequestTimeoutCheck(): void {
      this.destroy();
    }

    override push(request: unknown): void {
      super.push(request);
      if (this.enforceRequestTimeout && !this.requestTimeoutIntervalId) watchTimeouts(this);
    }

    override destroy(): void {
      super.destroy();
      this.requestTimeoutIntervalId = undefined;
    }
  };
}

function watchTimeouts(queue: RequestQueue): void {
  const timer = setInterval(() => {
    const now = Date.now();
    for (const request of [...queue.inflight.values()]) {
      if (now - request.sentAt > request.requestTimeout) request.timeoutRequest();
    }
    if (queue.isConnected() && queue.inflight.size + queue.pending.length > 0) return;
    clearInterval(timer);
    queue.requestTimeoutIntervalId = undefined;
  }, timeoutCheckMs);
  queue.requestTimeoutIntervalId = timer;
}

/** The library's class for the connections to one broker; what is used of it here. */
export interface ConnectionPool {
  readonly pool: unknown[];
  getConnection(index: number): Promise<unknown>;
  getConnectionByRequest(request: { readonly request: { readonly apiKey: number } }): Promise<unknown>;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- TypeScript asks for it where a class is extended.
export type ConnectionPoolClass = new (...options: any[]) => ConnectionPool;

const joinGroup = 11;
const syncGroup = 14;

/**
 * Requests to join a group get a connection of their own. A broker takes the requests of a connection one after another,
 * and a join is answered when all members have come: seconds, where one was killed. Commits must not wait for that.
 */
export function poolWithJoins(
  Original: ConnectionPoolClass,
  Connection: new (options: unknown) => unknown,
): ConnectionPoolClass {
  return class PoolWithJoins extends Original {
    readonly #joining: number;

    constructor(options: unknown) {
      super(options);
      // It is opened when it is first used.
      this.#joining = this.pool.push(new Connection(options)) - 1;
    }

    override getConnectionByRequest(
      protocolRequest: Parameters<ConnectionPool['getConnectionByRequest']>[0],
    ): Promise<unknown> {
      const { apiKey } = protocolRequest.request;
      const isJoin = apiKey === joinGroup || apiKey === syncGroup;
      return isJoin ? this.getConnection(this.#joining) : super.getConnectionByRequest(protocolRequest);
    }
  };
}

export interface Encoded {
  readonly buffer: Buffer;
}

export interface FramedRequest {
  readonly correlationId: number;
  readonly clientId: string;
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly encode: () => Promise<Encoded>;
  };
}

/** A whole request: its length, its header (version 1), what it says. */
export async function frameRequest({ correlationId, clientId, request }: FramedRequest): Promise<Encoded> {
  const { buffer: payload } = await request.encode();
  const idBytes = Buffer.byteLength(clientId);
  const payloadAt = 14 + idBytes;
  const buffer = Buffer.allocUnsafe(payloadAt + payload.length);
  buffer.writeInt32BE(buffer.length - 4, 0);
  buffer.writeInt16BE(request.apiKey, 4);
  buffer.writeInt16BE(request.apiVersion, 6);
  buffer.writeInt32BE(correlationId, 8);
  buffer.writeInt16BE(idBytes, 12);
  buffer.write(clientId, 14);
  payload.copy(buffer, payloadAt);
  return { buffer };
}

/** Of one kind of request: the versions that the library knows, and how each is made. */
export interface Definition {
  readonly versions: readonly string[];
  readonly protocol: (choice: { version: number }) => unknown;
}

export type LookUp = (versions: unknown) => (apiKey: number, definition: Definition) => unknown;

/** Finds out once for each broker which version of a request it takes, and not for each request. */
export function rememberingLookUp(lookUp: LookUp): LookUp {
  return (versions) => {
    const find = lookUp(versions);
    const found = new Map<Definition, unknown>();
    return (apiKey, definition) => {
      let request = found.get(definition);
      if (request === undefined) found.set(definition, (request = find(apiKey, definition)));
      return request;
    };
  };
}
