import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { KafkaSettings } from '@tailrace/kafka';
import Type from 'typebox';
import { certificates } from '../../../../test/support/receivers/certificates.ts';
import { clientIdOf, kafkaSettings } from './kafka.ts';
import { readSettings } from './read.ts';

const folder = mkdtempSync(join(tmpdir(), 'tailrace-settings-'));
after(() => {
  rmSync(folder, { recursive: true });
});
function fileWith(content: string): string {
  const file = join(folder, String(Math.random()));
  writeFileSync(file, content);
  return file;
}

const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
const pemFile = fileWith(pem);
const otherFile = fileWith('not a certificate');

function readKafka(env: Record<string, string>): KafkaSettings {
  const settings = Type.Object({ kafka: kafkaSettings('test') });
  return readSettings({ KAFKA_BROKERS: 'a:9092,b:9092', KAFKA_CLIENT_ID: 'shop', ...env }, settings).kafka;
}

const plain = { brokers: ['a:9092', 'b:9092'], clientId: clientIdOf('shop', 'test', hostname()) };

test('Kafka without security needs only its brokers', () => {
  assert.deepEqual(readKafka({}), plain);
  assert.throws(
    () => readKafka({ KAFKA_BROKERS: '' }),
    /KAFKA_BROKERS: not set\. Set it to the bootstrap servers/,
  );
});

test('a client id has prefix, service and host name, only allowed letters and a limited length', () => {
  assert.equal(
    clientIdOf('tailrace', 'router', 'prod-router-7d9c-x2x'),
    'tailrace-router-prod-router-7d9c-x2x',
  );
  assert.equal(clientIdOf('a', 'router', 'Jörg’s Mac'), 'a-router-J-rg-s-Mac');
  const long = clientIdOf('p'.repeat(100), 'delivery', `${'h'.repeat(253)}-0`);
  assert.ok(long.endsWith('h-0') && long.length <= 249, long);
  assert.throws(() => readKafka({ KAFKA_CLIENT_ID: 'a b' }), /KAFKA_CLIENT_ID: invalid value "a b"/);
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
    () => readKafka({ KAFKA_SASL_MECHANISM: 'plain' }),
    /KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD: not set\./,
  );
  assert.throws(
    () => readKafka({ KAFKA_SASL_PASSWORD: 'hunter2' }),
    /KAFKA_SASL_MECHANISM and KAFKA_SASL_USERNAME: not set\./,
  );
  assert.throws(() => readKafka({ ...sasl, KAFKA_SASL_MECHANISM: 'gssapi' }), /must be one of plain, scram/);
});

test('oauthbearer requires the token server and its client, and uses no password of Kafka', () => {
  const oauth = {
    KAFKA_SASL_MECHANISM: 'oauthbearer',
    KAFKA_OAUTH_TOKEN_URL: 'https://id.example/token',
    KAFKA_OAUTH_CLIENT_ID: 'tailrace',
    KAFKA_OAUTH_CLIENT_SECRET_FILE: fileWith('hunter2\n'),
    KAFKA_OAUTH_SCOPE: 'kafka',
  };
  assert.deepEqual(readKafka(oauth).sasl, {
    mechanism: 'oauthbearer',
    tokenUrl: 'https://id.example/token',
    clientId: 'tailrace',
    clientSecret: 'hunter2',
    scope: 'kafka',
    ca: undefined,
  });
  assert.throws(
    () => readKafka({ ...oauth, KAFKA_OAUTH_CLIENT_ID: '' }),
    /KAFKA_OAUTH_CLIENT_ID: not set\. KAFKA_SASL_MECHANISM=oauthbearer requires it/,
  );
  assert.throws(
    () => readKafka({ ...oauth, KAFKA_SASL_PASSWORD: 'x' }),
    /KAFKA_SASL_PASSWORD: not used by KAFKA_SASL_MECHANISM=oauthbearer/,
  );
  assert.throws(
    () => readKafka({ ...oauth, KAFKA_SASL_MECHANISM: '' }),
    /KAFKA_OAUTH_TOKEN_URL and KAFKA_OAUTH_CLIENT_ID .*: set without KAFKA_SASL_MECHANISM=oauthbearer/,
  );
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
  assert.throws(
    () => readKafka({ KAFKA_SSL: 'true', KAFKA_SSL_CA: join(folder, 'absent') }),
    /KAFKA_SSL_CA: neither a certificate in PEM nor a readable file: ENOENT/,
  );
  assert.throws(
    () => readKafka({ KAFKA_SSL: 'true', KAFKA_SSL_CA: otherFile }),
    /KAFKA_SSL_CA: the file contains no certificate/,
  );
});

test('a client certificate and its key are files or PEM, and belong together', () => {
  const { client } = certificates();
  const tls = { KAFKA_SSL: 'true', KAFKA_SSL_CERT: fileWith(client.cert), KAFKA_SSL_KEY: client.key };
  assert.equal(readKafka(tls).ssl?.cert, client.cert);
  assert.equal(readKafka({ ...tls, KAFKA_SSL_KEY: fileWith(client.key) }).ssl?.key, client.key);
  assert.throws(
    () => readKafka({ ...tls, KAFKA_SSL_KEY: '' }),
    /KAFKA_SSL_KEY: not set\. A client certificate needs/,
  );
  assert.throws(
    () => readKafka({ ...tls, KAFKA_SSL: '' }),
    /KAFKA_SSL_CERT and KAFKA_SSL_KEY: set without TLS/,
  );
  assert.throws(
    () => readKafka({ ...tls, KAFKA_SSL_CERT: pem }),
    /KAFKA_SSL_CERT: the certificate cannot be read/,
  );
  const { privateKey: stranger } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const strangerKey = stranger.export({ type: 'pkcs8', format: 'pem' }).toString();
  assert.throws(
    () => readKafka({ ...tls, KAFKA_SSL_KEY: strangerKey }),
    /KAFKA_SSL_KEY: belongs to another certificate/,
  );
});

test('an encrypted key requires its password, and no message contains the key', () => {
  const { client } = certificates();
  const key = createPrivateKey(client.key)
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'hunter2' })
    .toString();
  const tls = { KAFKA_SSL: 'true', KAFKA_SSL_CERT: client.cert, KAFKA_SSL_KEY: key };
  assert.equal(readKafka({ ...tls, KAFKA_SSL_KEY_PASSWORD: 'hunter2' }).ssl?.passphrase, 'hunter2');
  assert.throws(() => readKafka(tls), {
    message: /^KAFKA_SSL_KEY_PASSWORD: not set, but the key in KAFKA_SSL_KEY/,
  });
  assert.throws(() => readKafka({ ...tls, KAFKA_SSL_KEY_PASSWORD: 'guessed' }), {
    message: 'KAFKA_SSL_KEY_PASSWORD: does not decrypt the key in KAFKA_SSL_KEY.',
  });
  const damaged = key.slice(key.indexOf('\n'));
  assert.throws(
    () => readKafka({ ...tls, KAFKA_SSL_KEY: damaged }),
    ({ message }: Error) =>
      message.startsWith('KAFKA_SSL_KEY: neither a private key') && !message.includes(damaged.slice(20, 60)),
  );
});
