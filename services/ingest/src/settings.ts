/** The settings of ingest; README.md says what each is for. */
import {
  bytes,
  duration,
  httpUrl,
  integer,
  kafkaSettings,
  port,
  serviceSettings,
  topicPrefix,
} from '@tailrace/service';

export const settings = {
  ...serviceSettings({ metricsPort: 9464 }),
  kafka: kafkaSettings('tailrace-ingest'),
  topicPrefix: topicPrefix(),
  port: port('TAILRACE_INGEST_PORT', 8080),
  publicUrl: httpUrl('TAILRACE_INGEST_PUBLIC_URL'),
  acknowledgeWithinMs: duration('TAILRACE_INGEST_ACK_TIMEOUT', 10_000),
  requestTimeoutMs: duration('TAILRACE_INGEST_REQUEST_TIMEOUT', 60_000, { minMs: 100 }),
  maxConnections: integer('TAILRACE_INGEST_MAX_CONNECTIONS', { min: 1, max: 1_000_000 }, 10_000),
  maxBufferedBytes: bytes('TAILRACE_INGEST_BUFFER', 112 * 2 ** 20),
};
