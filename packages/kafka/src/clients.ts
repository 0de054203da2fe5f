/** The clients of kafkajs, with the settings that Tailrace gives them. No other file creates clients. */
import type {
  AdminConfig,
  Consumer,
  ConsumerConfig,
  KafkaConfig,
  PartitionerArgs,
  Producer,
  ProducerConfig,
} from 'kafkajs';
import { coPartitionedAssigners } from './consume/assigner.ts';
import { heartbeatIntervalMs } from './consume/pacing.ts';
import { bridgeLog, type KafkaLog } from './log.ts';
import type { OnRequest } from './observer.ts';
import kafkajs from './library.ts';
import type { Admin } from './patches/reading/admin-requests.ts';
import { decideFetches, type Fetching } from './patches/reading/group-fetch.ts';
import type { MemberConsumer } from './patches/reading/membership.ts';
import { followerMaxWaitMs, followerSessionTimeoutMs } from './read/follower.ts';
import { oauthBearer } from './oauth/authenticate.ts';
import { requestToken, type TokenServer } from './oauth/token-request.ts';
import { createTokenSource } from './oauth/token-source.ts';
import type { CreateReader } from './read/reader.ts';
import { openSockets } from './sockets.ts';

export interface KafkaSettings {
  /** `host:port` of the bootstrap servers. */
  readonly brokers: readonly string[];
  /** Identifies this process in the brokers' logs, metrics and quotas. */
  readonly clientId: string;
  readonly sasl?:
    | {
        readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
        readonly username: string;
        readonly password: string;
      }
    | ({ readonly mechanism: 'oauthbearer' } & TokenServer)
    | undefined;
  /** TLS to the brokers. All in PEM; without `ca`, the certificate authorities of the system are used. */
  readonly ssl?:
    | {
        readonly ca?: string | undefined;
        /** Client certificate; with `key`, and the `passphrase` of an encrypted key. */
        readonly cert?: string | undefined;
        readonly key?: string | undefined;
        readonly passphrase?: string | undefined;
      }
    | undefined;
}

export type ConsumerOptions = ConsumerConfig & {
  /** Decides how long each fetch may wait, instead of `maxWaitTimeInMs`. */
  readonly fetching?: Fetching;
};

/** The part of the patched library that this package uses. `testing/` has an in-memory implementation. */
export interface LibraryClient {
  readonly producer: (config: ProducerConfig) => Producer;
  readonly consumer: (options: ConsumerOptions) => MemberConsumer;
  readonly admin: (config: AdminConfig) => Admin;
  /** Ends what the client does in the background. */
  readonly close?: () => void;
}

export interface Clients {
  readonly admin: () => Admin;
  /** Idempotent; one request in flight. */
  readonly producer: () => Producer;
  readonly transactionalProducer: (id: string, transactionTimeoutMs: number) => Producer;
  readonly groupConsumer: (options: {
    readonly groupId: string;
    /** For a co-partitioned group, the partition numbers that this member owns. */
    readonly owned: (() => readonly number[]) | undefined;
    readonly fetching: Fetching;
  }) => MemberConsumer;
  readonly followerConsumer: CreateReader;
  readonly tailConsumer: CreateReader;
}

/**
 * How the library retries one request. It repeats the same sequence numbers, so that the broker recognises a repeat.
 * This covers a leader that moves. This package handles longer outages itself.
 */
const retry = { initialRetryTime: 50, maxRetryTime: 1_000, retries: 5 };
/** session.ts restarts consumers: it knows whether they should run. */
const consumerRetry = { ...retry, restartOnFailure: () => Promise.resolve(false) };
/** How long the partitions of a killed member wait for a new owner. */
const sessionTimeoutMs = 10_000;
/**
 * How long the broker waits for members that do not join while others do; a request to join that was lost is sent again 5 s
 * later. Longer than a session, after which such a member is removed anyway.
 */
const rebalanceTimeout = 15_000;
/** How soon a new partition, or a new leader, is noticed when no request fails. */
const metadataMaxAge = 15_000;
/** Compressed, as Kafka stores it. The records of one fetch are decoded together and copied several times. */
const fetchBytes = { maxBytesPerPartition: 128 * 1024, maxBytes: 8 * 1024 * 1024 };

export function libraryClient(settings: KafkaSettings, log: KafkaLog, onRequest?: OnRequest): LibraryClient {
  const { sasl } = settings;
  const sockets = openSockets(onRequest);
  const tokens =
    sasl?.mechanism === 'oauthbearer' ? createTokenSource(() => requestToken(sasl), log) : undefined;
  const client = new kafkajs.Kafka({
    ...clientConfig(settings, tokens ? oauthBearer(tokens) : sasl, log),
    socketFactory: sockets.factory,
  });
  return {
    producer: (config) => client.producer(config),
    consumer: ({ fetching, ...config }) => {
      const consumer = client.consumer(config) as MemberConsumer;
      if (fetching) decideFetches(consumer, fetching);
      return consumer;
    },
    admin: (config) => client.admin(config) as Admin,
    close: () => {
      tokens?.close();
      sockets.release();
    },
  };
}

export function createClients(client: LibraryClient): Clients {
  const producer = (config: ProducerConfig): Producer =>
    client.producer({
      ...config,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      metadataMaxAge,
      createPartitioner: namedPartition,
      retry,
    });
  const consumer = (options: ConsumerOptions): MemberConsumer =>
    client.consumer({
      ...options,
      rebalanceTimeout,
      allowAutoTopicCreation: false,
      metadataMaxAge,
      retry: consumerRetry,
    });
  /** For a reader of whole topics, which is alone in its group. */
  const readerConsumer = (options: ConsumerOptions): Consumer =>
    consumer({
      ...options,
      sessionTimeout: followerSessionTimeoutMs,
      heartbeatInterval: followerSessionTimeoutMs / 4,
    });

  return {
    admin: () => client.admin({ retry }),
    producer: () => producer({ idempotent: true }),
    transactionalProducer: (transactionalId, transactionTimeout) =>
      producer({ transactionalId, transactionTimeout }),
    groupConsumer: ({ groupId, owned, fetching }) =>
      consumer({
        groupId,
        ...fetchBytes,
        sessionTimeout: sessionTimeoutMs,
        heartbeatInterval: heartbeatIntervalMs,
        fetching,
        partitionAssigners: owned ? coPartitionedAssigners(owned) : [kafkajs.PartitionAssigners.roundRobin],
      }),
    followerConsumer: (groupId, fetching) =>
      readerConsumer({ groupId, fetching: { waitMs: followerWaitMs, ...fetching } }),
    tailConsumer: (groupId, fetching) =>
      readerConsumer({ groupId, ...fetchBytes, fetching: { waitMs: followerWaitMs, ...fetching } }),
  };
}

const followerWaitMs = (): number => followerMaxWaitMs;

/** Each message names its partition, so that a repeated request goes to the same one. */
const namedPartition =
  () =>
  ({ message }: PartitionerArgs) =>
    message.partition ?? 0;

function clientConfig(
  { brokers, clientId, ssl }: KafkaSettings,
  sasl: KafkaConfig['sasl'] | KafkaSettings['sasl'],
  log: KafkaLog,
): KafkaConfig {
  return {
    clientId,
    brokers: [...brokers],
    logCreator: bridgeLog(log),
    connectionTimeout: 3_000,
    authenticationTimeout: 5_000,
    requestTimeout: 10_000,
    retry,
    // A copy, because the library adds properties to it.
    ...(sasl && { sasl: { ...sasl } as KafkaConfig['sasl'] & object }),
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
    ...(ssl && { ssl: { rejectUnauthorized: true, ...ssl } }),
  };
}
