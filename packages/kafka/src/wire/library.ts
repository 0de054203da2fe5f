/**
 * The client library, with some of its modules replaced before it is loaded; everything else of this package imports
 * the library from here. It is pinned to one version, and a test holds each replaced module against it.
 *
 * - Answers to fetches: one batch that cannot be decoded must not fail all partitions, and decoding is bounded.
 * - Fetch requests: Kafka returns a batch that is larger than was asked for only for the first partition that has
 *   something, so each request begins with another partition.
 * - Produce requests and answers: null header values; which partition failed.
 * - Metadata: a partition without a leader must not fail all others of all topics.
 * - Grouping by partition: in linear time.
 * - Connections, requests and fetches: without what costs more than the records where there are few. Joins have a
 *   connection of their own.
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

/** Replaces what a module of the library exports; `make` is given what it exported. */
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

/** For the library, without a copy. */
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
  // Async, so that what it throws is a rejection.
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

/** For `maxWaitTimeInMs`, whose type is the library's. */
export function askedAtEachFetch(waitMs: () => number): number {
  return waitMs as unknown as number;
}

const kafkajs = require('kafkajs') as typeof Library;
export default kafkajs;
