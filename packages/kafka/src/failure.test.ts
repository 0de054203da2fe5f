import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import test, { describe } from 'node:test';
import { TailraceError, isTailraceError, type ErrorCode } from '@tailrace/errors';
import kafkajs from './library.ts';
import { kafkaFailure } from './failure.ts';

const {
  KafkaJSAggregateError,
  KafkaJSConnectionError,
  KafkaJSNonRetriableError,
  KafkaJSNumberOfRetriesExceeded,
  KafkaJSProtocolError,
} = kafkajs;

function protocolError(type: string): Error {
  return new KafkaJSProtocolError(Object.assign(new Error(`The broker says ${type}`), { type, code: 1 }));
}

function retriesExceeded(error: Error): Error {
  return new KafkaJSNumberOfRetriesExceeded(error, { retryCount: 5, retryTime: 100 });
}

/** As the library's retries do with what they do not retry. */
function wrapped(error: Error): Error {
  return Object.assign(new KafkaJSNonRetriableError(error.message), { cause: error });
}

const cases: readonly (readonly [string, Error, ErrorCode])[] = [
  [
    'refused SASL credentials',
    Object.assign(new Error('no'), { name: 'KafkaJSSASLAuthenticationError' }),
    'kafka-refused-credentials',
  ],
  ['a missing ACL', protocolError('TOPIC_AUTHORIZATION_FAILED'), 'kafka-permission-missing'],
  ['a missing topic', retriesExceeded(protocolError('UNKNOWN_TOPIC_OR_PARTITION')), 'topic-missing'],
  ['a record beyond max.message.bytes', protocolError('MESSAGE_TOO_LARGE'), 'record-too-large'],
  ['a batch beyond segment.bytes', protocolError('RECORD_LIST_TOO_LARGE'), 'record-too-large'],
  ['the time of a wrong clock', protocolError('INVALID_TIMESTAMP'), 'kafka-refused-clock'],
  ['a refused connection', retriesExceeded(new KafkaJSConnectionError('refused')), 'kafka-unavailable'],
  ['a lost sequence', protocolError('OUT_OF_ORDER_SEQUENCE_NUMBER'), 'kafka-unavailable'],
  ['a failed look-up', Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }), 'kafka-unavailable'],
  [
    'one of several topics, without an ACL',
    new KafkaJSAggregateError('Topic creation errors', [protocolError('TOPIC_AUTHORIZATION_FAILED')]),
    'kafka-permission-missing',
  ],
];

for (const [what, error, code] of cases) {
  test(`${what} is ${code}, also when the library wraps it`, () => {
    for (const thrown of [error, wrapped(error)]) {
      const failure = kafkaFailure(thrown, ['kafka-1:9092']);
      assert.ok(isTailraceError(failure, code), String(failure));
      assert.equal(failure.cause, thrown);
    }
  });
}

test('the error names the address of Kafka, and the network error', () => {
  const error = retriesExceeded(new KafkaJSConnectionError('connect ECONNREFUSED 10.0.0.1:9092.'));
  const { message } = kafkaFailure(error, ['kafka-1:9092', 'kafka-2:9092']) as Error;
  assert.match(message, /kafka-1:9092, kafka-2:9092/);
  assert.match(message, /connect ECONNREFUSED 10\.0\.0\.1:9092\. Check KAFKA_BROKERS/);
});

test('an error that does not come from Kafka is returned unchanged', () => {
  for (const error of [
    new TypeError('x is not a function'),
    new TailraceError('overloaded'),
    'text',
    undefined,
  ]) {
    assert.equal(kafkaFailure(error, []), error);
  }
});

describe('every error that the library can throw', () => {
  const require = createRequire(import.meta.url);
  const source = join(dirname(require.resolve('kafkajs/package.json')), 'src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.js'),
  );
  const textOf = (file: string): string => readFileSync(join(source, file), 'utf8');
  const codeOf = (error: unknown): string => {
    const failure = kafkaFailure(error, []);
    return isTailraceError(failure) ? failure.code : 'a defect';
  };

  test('is classified by its name', () => {
    const classes = [...textOf('errors.js').matchAll(/class (\w+) extends/g)].map(([, name]) => name);
    const named = [...textOf('errors.js').matchAll(/this\.name = '(\w+)'/g)].map(([, name]) => name);
    assert.ok(classes.length >= 30);
    for (const name of named) {
      const code =
        name === 'KafkaJSSASLAuthenticationError' ? 'kafka-refused-credentials' : 'kafka-unavailable';
      assert.equal(codeOf(Object.assign(new Error('no'), { name })), code, name);
    }
    // These take the name of what they extend, or stay inside the library.
    assert.deepEqual(
      classes.filter((name) => !named.includes(name)),
      ['KafkaJSInvalidVarIntError', 'KafkaJSInvalidLongError', 'KafkaJSFetcherRebalanceError'],
    );
  });

  test('that a broker returns is classified', () => {
    const { errorCodes } = require('kafkajs/src/protocol/error') as {
      errorCodes: readonly { type: string }[];
    };
    const codes = new Map(errorCodes.map(({ type }) => [type, codeOf(protocolError(type))]));
    assert.ok(codes.size >= 88);
    const special = Object.fromEntries([...codes].filter(([, code]) => code !== 'kafka-unavailable'));
    assert.deepEqual(special, {
      UNKNOWN_TOPIC_OR_PARTITION: 'topic-missing',
      MESSAGE_TOO_LARGE: 'record-too-large',
      RECORD_LIST_TOO_LARGE: 'record-too-large',
      TOPIC_AUTHORIZATION_FAILED: 'kafka-permission-missing',
      GROUP_AUTHORIZATION_FAILED: 'kafka-permission-missing',
      CLUSTER_AUTHORIZATION_FAILED: 'kafka-permission-missing',
      INVALID_TIMESTAMP: 'kafka-refused-clock',
      TRANSACTIONAL_ID_AUTHORIZATION_FAILED: 'kafka-permission-missing',
      DELEGATION_TOKEN_AUTHORIZATION_FAILED: 'kafka-permission-missing',
    });
  });

  test('without a name is classified by where it was thrown', async () => {
    // All places where the library makes one; a new version that makes others fails here.
    const thrown = files.flatMap((file) =>
      [...textOf(file).matchAll(/new (?:Type|Range)?Error\((.*?)\)/g)].map(
        ([, text = '']) => [file, text] as const,
      ),
    );
    assert.deepEqual(
      thrown.map(([file, text]) => `${file}: ${text.replaceAll(/['"`]/g, '').slice(0, 45)}`).sort(),
      [
        'broker/index.js: Broker not connected',
        'broker/saslAuthenticator/scram.js: Invalid server signature in server final mess',
        'broker/saslAuthenticator/scram.js: finalResponse.e',
        'protocol/encoder.js: all values should be an instance of Encoder[]',
        'protocol/encoder.js: value should be an instance of Buffer',
        'protocol/encoder.js: value should be an instance of Encoder',
        'retry/index.js: Aborted',
        'utils/lock.js: timeout is not a number, received ${typeof ti',
        'utils/shuffle.js: array is not an array',
      ],
    );
    const Broker = require('kafkajs/src/broker') as new (options: object) => {
      metadata(topics: string[]): Promise<never>;
    };
    const Encoder = require('kafkajs/src/protocol/encoder') as new () => {
      writeEncoder(value: unknown): void;
    };
    const Decoder = require('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => { readInt32(): number };
    const shuffle = require('kafkajs/src/utils/shuffle') as (array: unknown) => never;
    const logger = { namespace: () => logger, debug: () => undefined };
    const broker = new Broker({ connectionPool: {}, logger, allowAutoTopicCreation: false });
    for (const [what, throwing] of Object.entries<() => unknown>({
      'Broker not connected': () => broker.metadata([]),
      'value should be an instance of Encoder': () => {
        new Encoder().writeEncoder(1);
      },
      "'array' is not an array": () => shuffle(1),
      'a read beyond the end of an answer': () => new Decoder(Buffer.alloc(1)).readInt32(),
    })) {
      const error: unknown = await Promise.resolve()
        .then(throwing)
        .then(
          () => undefined,
          (error: unknown) => error,
        );
      assert.ok(error instanceof Error, what);
      assert.equal(codeOf(error), 'kafka-unavailable', what);
    }
  });
});
