import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { KafkaSettings } from '@tailrace/kafka';
import Type from 'typebox';
import { readSettings } from './read.ts';
import { kafkaSettings, secretKeys, serviceSettings, topicSettings } from './shared.ts';

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
  const settings = Type.Object({ kafka: kafkaSettings('tailrace-test') });
  return readSettings({ KAFKA_BROKERS: 'a:9092,b:9092', ...env }, settings).kafka;
}

const plain = { brokers: ['a:9092', 'b:9092'], clientId: 'tailrace-test' };

test('Kafka without security needs only its brokers', () => {
  assert.deepEqual(readKafka({}), plain);
  assert.throws(
    () => readKafka({ KAFKA_BROKERS: '' }),
    /KAFKA_BROKERS: not set\. Set it to the bootstrap servers/,
  );
});

test('Kafka with SASL requires mechanism, user name and password together', () => {
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
  assert.throws(() => readKafka({ ...sasl, KAFKA_SASL_MECHANISM: 'gssapi' }), /must be one of plain, scram/);
});

test('incomplete SASL and a certificate authority without TLS are reported together', () => {
  assert.throws(
    () => readKafka({ KAFKA_SASL_PASSWORD: 'hunter2', KAFKA_SSL_CA: pemFile }),
    /KAFKA_SASL_MECHANISM and KAFKA_SASL_USERNAME: not set\..*\nKAFKA_SSL_CA: set without TLS/,
  );
});

test('Kafka with TLS accepts a certificate authority as a file or as PEM text', () => {
  assert.deepEqual(readKafka({ KAFKA_SSL: 'true' }), { ...plain, ssl: {} });
  assert.deepEqual(readKafka({ KAFKA_SSL: 'true', KAFKA_SSL_CA: pemFile }), { ...plain, ssl: { ca: pem } });
  assert.equal(readKafka({ KAFKA_SSL: 'true', KAFKA_SSL_CA: pem }).ssl?.ca?.trim(), pem.trim());
  assert.throws(() => readKafka({ KAFKA_SSL_CA: pemFile }), /KAFKA_SSL_CA: set without TLS/);
  assert.throws(
    () => readKafka({ KAFKA_SSL: 'true', KAFKA_SSL_CA: join(folder, 'absent') }),
    /KAFKA_SSL_CA: neither a certificate in PEM nor a readable file: ENOENT/,
  );
  assert.throws(
    () => readKafka({ KAFKA_SSL: 'true', KAFKA_SSL_CA: otherFile }),
    /KAFKA_SSL_CA: the file contains no certificate/,
  );
});

test('topics have the documented defaults', () => {
  const { topics } = readSettings({}, Type.Object({ topics: topicSettings() }));
  assert.equal(topics.prefix, 'tailrace.');
  assert.equal(topics.partitions, 6);
  assert.equal(topics.replication, undefined);
  const minutes = topics.retryScheduleMs.map((delayMs) => delayMs / 60_000);
  assert.deepEqual(minutes, [1 / 6, 1, 5, 20, 60, 60, 60, 20]);
});

test('a topic prefix that Kafka does not allow is invalid', () => {
  assert.throws(
    () => readSettings({ TAILRACE_TOPIC_PREFIX: 'a/b' }, Type.Object({ topics: topicSettings() })),
    /TAILRACE_TOPIC_PREFIX/,
  );
});

test('every service has a log level, a port for its metrics and a grace period', () => {
  assert.deepEqual(
    { ...readSettings({ LOG_LEVEL: 'debug' }, Type.Object(serviceSettings({ metricsPort: 9464 }))) },
    { logLevel: 'debug', metricsPort: 9464, shutdownGraceMs: 25_000 },
  );
  assert.throws(
    () => readSettings({ LOG_LEVEL: 'loud' }, Type.Object(serviceSettings({ metricsPort: 9464 }))),
    /LOG_LEVEL: invalid value "loud"; must be one of trace, debug, info, warn, error, fatal, silent/,
  );
});

test('the previous secret key requires the current one', () => {
  const settings = Type.Object({ keys: secretKeys() });
  const [current, previous] = ['a', 'b'].map((digit) => digit.repeat(64)) as [string, string];
  const env = { TAILRACE_SECRET_KEY: current, TAILRACE_SECRET_KEY_PREVIOUS: previous };
  assert.deepEqual(
    { ...readSettings(env, settings).keys },
    { current: Buffer.from(current, 'hex'), previous: Buffer.from(previous, 'hex') },
  );
  assert.throws(
    () => readSettings({ ...env, TAILRACE_SECRET_KEY: '' }, settings),
    /TAILRACE_SECRET_KEY: not set/,
  );
});
