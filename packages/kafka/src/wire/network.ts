/**
 * Sends the library's requests without its overhead: a timer after every response, a check of every connection ten times a
 * second, and two copies into zeroed buffers. At low load this overhead costs as much as the work on the records.
 */
import { withRefusal, type DescribedRequest } from './refusals.ts';

/** The library's class for the requests of one connection: the members that are used here. */
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
  /** By `performance.now()`; see monotonic.ts. */
  readonly sentAt: number;
  readonly requestTimeout: number;
  timeoutRequest(): void;
}

// oxlint-disable-next-line typescript/no-explicit-any -- TypeScript asks for it where a class is extended.
export type RequestQueueClass = new (...options: any[]) => RequestQueue;

/** Requests may take seconds. */
const timeoutCheckMs = 500;

/** Runs timers only while requests wait for their responses, or wait to be sent. */
export function sparingQueue(Original: RequestQueueClass): RequestQueueClass {
  return class SparingQueue extends Original {
    override scheduleCheckPendingRequests(): void {
      if (this.pending.length > 0) super.scheduleCheckPendingRequests();
    }

    /** Called when a connection opens. The timer starts with the first request instead. */
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
    const now = performance.now();
    for (const request of [...queue.inflight.values()]) {
      if (now - request.sentAt > request.requestTimeout) request.timeoutRequest();
    }
    if (queue.isConnected() && queue.inflight.size + queue.pending.length > 0) return;
    clearInterval(timer);
    queue.requestTimeoutIntervalId = undefined;
  }, timeoutCheckMs);
  queue.requestTimeoutIntervalId = timer;
}

/** The library's class for the connections to one broker: the members that are used here. */
export interface ConnectionPool {
  readonly pool: { isConnected(): boolean }[];
  getConnection(index: number): Promise<unknown>;
  getConnectionByRequest(request: DescribedRequest): Promise<unknown>;
  send(request: DescribedRequest): Promise<unknown>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- TypeScript asks for it where a class is extended.
export type ConnectionPoolClass = new (...options: any[]) => ConnectionPool;

const joinGroup = 11;
const syncGroup = 14;

/**
 * Gives requests to join a group a connection of their own. A broker handles the requests of a connection one at a time, and
 * answers a join when all members have joined, which takes seconds after a member was killed. Commits must not wait for it.
 *
 * Requests that find a connection closed wait until it is open. The library opens one socket for each of them, and keeps all
 * but the last until the broker closes them.
 */
export function poolWithJoins(
  Original: ConnectionPoolClass,
  Connection: new (options: unknown) => { isConnected(): boolean },
): ConnectionPoolClass {
  return class PoolWithJoins extends Original {
    readonly #joining: number;
    readonly #opening = new Map<number, Promise<unknown>>();

    constructor(options: unknown) {
      super(options);
      // The connection is opened on first use.
      this.#joining = this.pool.push(new Connection(options)) - 1;
    }

    override send(protocolRequest: DescribedRequest): Promise<unknown> {
      return super.send(protocolRequest).catch((error: unknown) => {
        throw withRefusal(error, protocolRequest);
      });
    }

    override getConnection(index = 0): Promise<unknown> {
      if (this.pool[index]?.isConnected()) return super.getConnection(index);
      let opening = this.#opening.get(index);
      if (!opening) {
        opening = super.getConnection(index).finally(() => this.#opening.delete(index));
        this.#opening.set(index, opening);
      }
      return opening;
    }

    override getConnectionByRequest(protocolRequest: DescribedRequest): Promise<unknown> {
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

/** A complete request: its length, its header (version 1) and its body. */
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

/** For one kind of request, the versions that the library knows and the encoder of each. */
export interface Definition {
  readonly versions: readonly string[];
  readonly protocol: (choice: { version: number }) => unknown;
}

/** Makes a request from its content. */
type MakeRequest = (content: unknown) => DescribedRequest;

export type LookUp = (versions: unknown) => (apiKey: number, definition: Definition) => MakeRequest;

/**
 * Looks up the version of a request once for each broker, instead of once for each request. The requests keep what they were
 * made from, for refusals.ts.
 */
export function rememberingLookUp(lookUp: LookUp): LookUp {
  return (versions) => {
    const find = lookUp(versions);
    const found = new Map<Definition, MakeRequest>();
    return (apiKey, definition) => {
      const known = found.get(definition);
      if (known) return known;
      const make = find(apiKey, definition);
      const describing: MakeRequest = (content) => {
        const request = make(content);
        request.madeFrom = content;
        return request;
      };
      found.set(definition, describing);
      return describing;
    };
  };
}
