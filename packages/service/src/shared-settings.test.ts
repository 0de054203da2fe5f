import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { KafkaSettings } from '@tailrace/kafka';
import { readSettings } from './settings.ts';
import { kafkaSettings, serviceSettings, topicSettings } from './shared-settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'tailrace-settings-'));
after(() => {
  rmSync(folder, { recursive: true });
});
const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
const pemFile = join(folder, 'ca.pem');
writeFileSync(pemFile, pem);
const otherFile = join(folder, 'other.txt');
writeFileSync(otherFile, 'not a certificate');

function readKafka(env: Record<string, string>): KafkaSettings {
  return readSettings({ KAFKA_BROKERS: 'a:9092,b:9092', ...env }, { kafka: kafkaSettings('tailrace-test') })
    .kafka;
}

const plain = { brokers: ['a:9092', 'b:9092'], clientId: 'tailrace-test' };

test('Kafka without security needs only its brokers', () => {
  assert.deepEqual(readKafka({}), plain);
  assert.throws(
    () => readKafka({ KAFKA_BROKERS: '' }),
    /KAFKA_BROKERS: not set\. Give the bootstrap servers/,
  );
});

test('Kafka with SASL takes mechanism, user name and password together', () => {
  const sasl = {
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: 'tailrace',
    KAFKA_SASL_PASSWORD: 'hunter2',
  };
  assert.deepEqual(readKafka(sasl), {
    ...plain,
    sasl: { mechanism: 'scram-sha-512', username: 'tailrace', password: 'hunter2' },
  });
  assert.throws(() => readKafka({ ...sasl, KAFKA_SASL_PASSWORD: '' }), /KAFKA_SASL_PASSWORD: not set\./);
  assert.throws(
    () => readKafka({ KAFKA_SASL_PASSWORD: 'hunter2' }),
    /KAFKA_SASL_MECHANISM and KAFKA_SASL_USERNAME: not set\./,
  );
  assert.throws(
    () => readKafka({ ...sasl, KAFKA_SASL_MECHANISM: 'gssapi' }),
    /allowed is one of plain, scram/,
  );
});

test('Kafka with TLS takes a certificate authority as a file or as PEM text', () => {
  assert.deepEqual(readKafka({ KAFKA_SSL: 'true' }), { ...plain, ssl: {} });
  assert.deepEqual(readKafka({ KAFKA_SSL: 'true', KAFKA_SSL_CA: pemFile }), { ...plain, ssl: { ca: pem } });
  assert.equal(readKafka({ KAFKA_SSL: 'true', KAFKA_SSL_CA: pem }).ssl?.ca?.trim(), pem.trim());
  assert.throws(() => readKafka({ KAFKA_SSL_CA: pemFile }), /KAFKA_SSL_CA: set without TLS/);
  assert.throws(
    () => readKafka({ KAFKA_SSL: 'true', KAFKA_SSL_CA: join(folder, 'absent') }),
    /KAFKA_SSL_CA: neither a certificate in PEM form nor a file: ENOENT/,
  );
  assert.throws(
    () => readKafka({ KAFKA_SSL: 'true', KAFKA_SSL_CA: otherFile }),
    /KAFKA_SSL_CA: the file holds no certificate/,
  );
});

test('topics have the documented defaults', () => {
  const { topics } = readSettings({}, { topics: topicSettings() });
  assert.equal(topics.prefix, 'tailrace.');
  assert.equal(topics.partitions, 6);
  assert.equal(topics.replication, undefined);
  const minutes = topics.retryScheduleMs.map((delayMs) => delayMs / 60_000);
  assert.deepEqual(minutes, [1 / 6, 1, 5, 20, 60, 60, 60, 20]);
});

test('a topic prefix that Kafka would refuse is refused', () => {
  assert.throws(
    () => readSettings({ TAILRACE_TOPIC_PREFIX: 'a/b' }, { topics: topicSettings() }),
    /TAILRACE_TOPIC_PREFIX/,
  );
});

test('every service has a log level, a port for its metrics and a grace period', () => {
  assert.deepEqual(
    { ...readSettings({ LOG_LEVEL: 'debug' }, serviceSettings({ metricsPort: 9464 })) },
    { logLevel: 'debug', metricsPort: 9464, shutdownGraceMs: 25_000 },
  );
  assert.throws(
    () => readSettings({ LOG_LEVEL: 'loud' }, serviceSettings({ metricsPort: 9464 })),
    /LOG_LEVEL: found "loud", allowed is one of trace, debug, info, warn, error, fatal, silent/,
  );
});
