/** The settings of ingest. docs/settings.md is generated from them. */
import {
  bytes,
  duration,
  ingestPublicUrl,
  kafkaSettings,
  latency,
  owner,
  peers,
  port,
  serviceSettings,
  topicPrefix,
  trustedProxies,
} from '@tailrace/service';
import Type from 'typebox';

export const settings = Type.Object({
  ...serviceSettings({ metricsPort: 9464 }),
  kafka: kafkaSettings('ingest'),
  topicPrefix: topicPrefix(),
  owner: owner(),
  peers: peers(),
  port: port({
    env: 'TAILRACE_INGEST_PORT',
    default: 8080,
    description: 'Port of the HTTP API. With 0 the system chooses a free port, which the log names.',
  }),
  latency: latency(),
  publicUrl: ingestPublicUrl(),
  trustedProxies: trustedProxies(),
  sharedRateLimit: Type.Integer({
    env: 'TAILRACE_SHARED_RATE_LIMIT',
    minimum: 0,
    maximum: 1_000_000,
    default: 2_000,
    description:
      'Calls a second that a source without a rateLimit of its own may send to this replica while other sources send too. 0 is no limit.',
  }),
  acknowledgeWithinMs: duration({
    env: 'TAILRACE_INGEST_ACK_TIMEOUT',
    default: 10_000,
    description: 'A call that Kafka has not acknowledged after this time is answered with 503.',
  }),
  requestTimeoutMs: duration({
    env: 'TAILRACE_INGEST_REQUEST_TIMEOUT',
    minimum: 100,
    default: 60_000,
    description:
      'Time for a whole request to arrive, at most 10s of it for the headers; a later request is answered with 408.',
  }),
  maxConnections: Type.Integer({
    env: 'TAILRACE_INGEST_MAX_CONNECTIONS',
    minimum: 1,
    maximum: 1_000_000,
    default: 10_000,
    description: 'Open connections; further ones are closed immediately.',
  }),
  maxBufferedBytes: bytes({
    env: 'TAILRACE_INGEST_BUFFER',
    default: 112 * 2 ** 20,
    description:
      'Memory for requests, from their first byte to their answer; beyond it they are answered with 503.',
  }),
});
