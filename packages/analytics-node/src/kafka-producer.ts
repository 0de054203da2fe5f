/** What is used of a Kafka producer. That of kafkajs fits as it is; another client's needs a few lines around it. */
export interface KafkaProducer {
  /** Resolves once Kafka has acknowledged the records, and rejects otherwise. */
  send(batch: { topic: string; messages: KafkaMessage[] }): Promise<unknown>;
}

export interface KafkaMessage {
  key: string;
  value: string;
  headers: Record<string, string>;
}
