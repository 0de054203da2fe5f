/** Public types. This file imports nothing, because not every user's compiler has the types of Node. */

/**
 * The part of a Kafka producer that is used. The producer of kafkajs fits directly; other clients need an adapter.
 */
export interface KafkaProducer {
  /** Resolves once Kafka has acknowledged the records, and rejects otherwise. */
  send(batch: { topic: string; messages: KafkaMessage[] }): Promise<unknown>;
}

export interface KafkaMessage {
  key: string;
  value: string;
  headers: Record<string, string>;
}
