/** Dead letters as the delivery service writes them, for tests of what reads them. */
import { randomUUID } from 'node:crypto';
import type { OutgoingRecord } from '@tailrace/kafka';

export interface Letter {
  readonly deliveryId: string;
  readonly body: Buffer;
}

/** Letters for three partitions of the topic, each of its own user, and their records. */
export function newDeadLetters(
  topic: string,
  count: number,
  headers: Readonly<Record<string, string>> = {},
): { readonly letters: readonly Letter[]; readonly records: readonly OutgoingRecord[] } {
  const letters = Array.from({ length: count }, (_, nth) => ({
    deliveryId: randomUUID(),
    body: Buffer.from(`{"version":1, "event":"${nth}"}`),
  }));
  const records = letters.map(({ deliveryId, body }, nth) => ({
    topic,
    partition: nth % 3,
    key: `crm/user ${nth}`,
    value: body,
    headers: {
      'delivery-id': deliveryId,
      'event-id': `event ${nth}`,
      'source-id': 'web',
      'destination-id': 'crm',
      type: 'track',
      traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
      attempt: '9',
      'first-attempt-at': '2026-05-01T08:00:00.000Z',
      'closed-urls': 'abc,def',
      reason: 'attempts-exhausted',
      'last-answer': '[{"url":"https://crm.example.com/","status":503,"latencyMs":7}]',
      ...headers,
    },
  }));
  return { letters, records };
}
