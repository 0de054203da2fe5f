/** Errors as the client library throws them. */
import kafkajs from '../library.ts';

export function protocolError(type: string): Error {
  return Object.assign(new kafkajs.KafkaJSError(type, { retriable: false }), { type });
}

export function connectionError(): Error {
  return new kafkajs.KafkaJSConnectionError('Connection error: the in-memory cluster is stopped');
}
