import assert from 'node:assert/strict';
import test from 'node:test';
import { TailraceError, isTailraceError, type ErrorCode } from '@tailrace/errors';
import kafkajs from 'kafkajs';
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
  ['a missing ACL', protocolError('TOPIC_AUTHORIZATION_FAILED'), 'kafka-refused-credentials'],
  ['a missing topic', retriesExceeded(protocolError('UNKNOWN_TOPIC_OR_PARTITION')), 'topic-missing'],
  ['a record beyond max.message.bytes', protocolError('MESSAGE_TOO_LARGE'), 'record-too-large'],
  ['a batch beyond segment.bytes', protocolError('RECORD_LIST_TOO_LARGE'), 'record-too-large'],
  ['a refused connection', retriesExceeded(new KafkaJSConnectionError('refused')), 'kafka-unavailable'],
  ['a lost sequence', protocolError('OUT_OF_ORDER_SEQUENCE_NUMBER'), 'kafka-unavailable'],
  ['a failed look-up', Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }), 'kafka-unavailable'],
  [
    'one of several topics, without an ACL',
    new KafkaJSAggregateError('Topic creation errors', [protocolError('TOPIC_AUTHORIZATION_FAILED')]),
    'kafka-refused-credentials',
  ],
];

for (const [what, error, code] of cases) {
  test(`${what} is ${code}, also inside what the library wraps it in`, () => {
    for (const thrown of [error, wrapped(error)]) {
      const failure = kafkaFailure(thrown, ['kafka-1:9092']);
      assert.ok(isTailraceError(failure, code), String(failure));
      assert.equal(failure.cause, thrown);
    }
  });
}

test('an unusable Kafka is named by its address, with what the network says', () => {
  const error = retriesExceeded(new KafkaJSConnectionError('connect ECONNREFUSED 10.0.0.1:9092.'));
  const { message } = kafkaFailure(error, ['kafka-1:9092', 'kafka-2:9092']) as Error;
  assert.match(message, /kafka-1:9092, kafka-2:9092/);
  assert.match(message, /connect ECONNREFUSED 10\.0\.0\.1:9092\. Check KAFKA_BROKERS/);
});

test('what does not come from Kafka stays what it is', () => {
  for (const error of [
    new TypeError('x is not a function'),
    new TailraceError('overloaded'),
    'text',
    undefined,
  ]) {
    assert.equal(kafkaFailure(error, []), error);
  }
});
