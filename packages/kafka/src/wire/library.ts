/**
 * kafkajs, with some of its modules replaced before it is loaded. All other files of this package import the library from
 * here. Its version is pinned, and tests compare each replaced module with the original.
 *
 * - Fetch responses: one batch that cannot be decoded must not fail all partitions, and decoding has a memory limit.
 * - Fetch requests: Kafka returns a batch above the size limit only for the first partition that has records, so each
 *   request begins with another partition.
 * - Produce requests and responses: null header values; the result of each partition.
 * - Metadata: a partition without a leader must not fail all other partitions of all topics.
 * - Grouping by partition: linear time.
 * - Administration: reads one record, and the ends of several topics at once, with open transactions.
 * - Connections, requests and fetches: without work that costs more than the records at low load. Joins have a connection
 *   of their own. Each request is reported.
 * - Authentication: tokens are fetched before an exchange begins; short sessions.
 * - Durations: by a clock that cannot be set.
 */
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type * as Library from 'kafkajs';
import type { OnRequest } from '../observer.ts';
import { preparedAuthenticator, type AuthenticatorClass } from './authentication.ts';
import { withEnds } from './ends.ts';
import { encodeFetchRequest } from './fetch-request.ts';
import { decodeFetchResponse } from './fetch-response.ts';
import { fetchLean, type Fetching, type Group } from './group.ts';
import { loadMonotonic } from './monotonic.ts';
import {
  frameRequest,
  poolWithJoins,
  rememberingLookUp,
  sparingQueue,
  type ConnectionPoolClass,
  type LookUp,
  type RequestQueueClass,
} from './network.ts';
import { observable, observeRequests, type ConnectionClass } from './observed-requests.ts';
import { encodeProduceRequest, readProduceAnswer } from './produce.ts';
import { withRecords } from './timestamp.ts';

const require = createRequire(import.meta.url);
const endMonotonic = loadMonotonic();

/** Replaces the exports of a module of the library. `make` receives the original exports. */
function replace<T>(module: string, make: (original: T) => T): void {
  const path = `kafkajs/src/${module}`;
  const original = require(path) as T;
  const entry = require.cache[require.resolve(path)];
  if (entry) entry.exports = make(original);
}

interface Response {
  readonly decode: (payload: Buffer) => Promise<unknown>;
  readonly parse: (data: never) => Promise<unknown>;
}

type Request = (options: never) => Record<string, unknown>;

interface Encoder {
  buf: Buffer;
  offset: number;
}

const Encoder = require('kafkajs/src/protocol/encoder') as new (size?: number) => Encoder;

/** Wraps the bytes for the library without copying them. */
function encoderOf(bytes: Buffer): Encoder {
  const encoder = new Encoder(1);
  encoder.buf = bytes;
  encoder.offset = bytes.length;
  return encoder;
}

replace<Response>('protocol/requests/fetch/v11/response', (original) => ({
  ...original,
  decode: (payload) => Promise.resolve(decodeFetchResponse(payload)),
}));

replace<Request>('protocol/requests/fetch/v11/request', (original) => (options) => ({
  ...original(options),
  encode: () => Promise.resolve(encoderOf(encodeFetchRequest(options))),
}));

replace<Request>('protocol/requests/produce/v7/request', (original) => (options) => ({
  ...original(options),
  encode: async () => encoderOf(await encodeProduceRequest(options)),
}));

replace<Response>('protocol/requests/produce/v7/response', (original) => ({
  ...original,
  // Async, so that an error becomes a rejection.
  parse: async (data) => Promise.resolve(readProduceAnswer(data)),
}));

interface Metadata {
  readonly topicMetadata: readonly { readonly partitionMetadata: { partitionErrorCode: number }[] }[];
}

replace<Response>('protocol/requests/metadata/v6/response', (original) => ({
  ...original,
  parse: (data) => {
    for (const { partitionMetadata } of (data as Metadata).topicMetadata) {
      for (const partition of partitionMetadata) partition.partitionErrorCode = 0;
    }
    return original.parse(data);
  },
}));

interface Grouping {
  readonly topic: string;
  readonly partitionMetadata: readonly unknown[];
  readonly messages: readonly unknown[];
  readonly partitioner: (args: object) => number;
}

replace<(grouping: Grouping) => Record<number, unknown[]>>(
  'producer/groupMessagesPerPartition',
  () =>
    ({ topic, partitionMetadata, messages, partitioner }) => {
      const groups: Record<number, unknown[]> = {};
      for (const message of messages) {
        (groups[partitioner({ topic, partitionMetadata, message })] ??= []).push(message);
      }
      return groups;
    },
);

replace<{ readonly lookup: LookUp }>('protocol/requests', (original) => ({
  ...original,
  lookup: rememberingLookUp(original.lookup),
}));

replace<typeof frameRequest>('protocol/request', () => frameRequest);

// Before the connections, which load it.
replace<AuthenticatorClass>('broker/saslAuthenticator', preparedAuthenticator);

replace<RequestQueueClass>('network/requestQueue', sparingQueue);

replace<ConnectionClass>('network/connection', observable);

replace<ConnectionPoolClass>('network/connectionPool', (original) =>
  poolWithJoins(original, require('kafkajs/src/network/connection') as Parameters<typeof poolWithJoins>[1]),
);

replace<(offset: unknown) => boolean>(
  'consumer/offsetManager/isInvalidOffset',
  () => (offset) => offset === undefined || offset === null || offset === '' || Number(offset) < 0,
);

replace<(options: { readonly cluster: unknown }) => Library.Admin>('admin/index', (create) =>
  withEnds(withRecords(create)),
);

(require('kafkajs/src/consumer/consumerGroup') as { prototype: Group }).prototype.fetch = fetchLean;

/** A value for `maxWaitTimeInMs`, which the library types as a number. wire/group.ts uses it for each fetch. */
export function usedForEachFetch(fetching: Fetching): number {
  return fetching as unknown as number;
}

const createSocketFactory = require('kafkajs/src/network/socketFactory') as () => Library.ISocketFactory;

export interface OpenSockets {
  readonly factory: Library.ISocketFactory;
  readonly count: number;
  /** From now on they do not keep the process alive. A consumer may still leave its group, for which `close` does not wait. */
  release(): void;
}

/** The sockets of a client whose requests are reported to `onRequest`. */
export function openSockets(onRequest?: OnRequest): OpenSockets {
  const createSocket = createSocketFactory();
  const sockets = new Set<Socket>();
  let released = false;
  const factory: Library.ISocketFactory = (options) => {
    const socket = createSocket(options);
    if (released) socket.unref();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  if (onRequest) observeRequests(factory, onRequest);
  return {
    factory,
    get count() {
      return sockets.size;
    },
    release() {
      released = true;
      for (const socket of sockets) socket.unref();
    },
  };
}

const kafkajs = require('kafkajs') as typeof Library;
endMonotonic();
export default kafkajs;
