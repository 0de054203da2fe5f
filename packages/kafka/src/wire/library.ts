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
 * - Connections, requests and fetches: without work that costs more than the records at low load. Joins have a connection
 *   of their own.
 */
import { createRequire } from 'node:module';
import type * as Library from 'kafkajs';
import { encodeFetchRequest } from './fetch-request.ts';
import { decodeFetchResponse } from './fetch-response.ts';
import { fetchLean, type Group } from './group.ts';
import {
  frameRequest,
  poolWithJoins,
  rememberingLookUp,
  sparingQueue,
  type ConnectionPoolClass,
  type LookUp,
  type RequestQueueClass,
} from './network.ts';
import { encodeProduceRequest, readProduceAnswer } from './produce.ts';

const require = createRequire(import.meta.url);

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

replace<RequestQueueClass>('network/requestQueue', sparingQueue);

replace<ConnectionPoolClass>('network/connectionPool', (original) =>
  poolWithJoins(original, require('kafkajs/src/network/connection') as new (options: unknown) => unknown),
);

replace<(offset: unknown) => boolean>(
  'consumer/offsetManager/isInvalidOffset',
  () => (offset) => offset === undefined || offset === null || offset === '' || Number(offset) < 0,
);

(require('kafkajs/src/consumer/consumerGroup') as { prototype: Group }).prototype.fetch = fetchLean;

/** A value for `maxWaitTimeInMs`, which the library types as a number. wire/group.ts calls it for each fetch. */
export function askedAtEachFetch(waitMs: () => number): number {
  return waitMs as unknown as number;
}

const kafkajs = require('kafkajs') as typeof Library;
export default kafkajs;
