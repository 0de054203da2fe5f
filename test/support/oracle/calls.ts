/** Numbered tracking calls for fault tests, the body expected for each, and a sender that retries until accepted. */
import { eventually } from '@tailrace/testing';
import type { Connection } from '../processes/pipeline.ts';

export type NumberedCall = ReturnType<typeof callOf>;

export function callOf(number: number, users = 997) {
  const messageId = `event-${number}`;
  return {
    type: 'track',
    messageId,
    userId: `user-${number % users}`,
    timestamp: new Date(Date.UTC(2026, 10, 20) + number).toISOString(),
    context: { ip: '203.0.113.7', locale: 'de-CH' },
    event: 'Größe gewählt',
    properties: { id: messageId, size: number / 8, filler: 'x'.repeat(number % 500) },
  };
}

/** The expected body, written independently of the code under test (docs/specification.md, rule 6.2). */
export function bodyOf({ type, userId, timestamp, context, event, properties }: NumberedCall): Buffer {
  return Buffer.from(JSON.stringify({ version: 1, type, userId, timestamp, context, event, properties }));
}

/** Sends the same calls with the same messageIds until the response is 200, as an SDK does. */
export async function sendUntilAccepted(
  connection: Connection,
  batch: readonly NumberedCall[],
): Promise<void> {
  await eventually(
    () =>
      connection.post('batch', { batch }).then(
        async (response) => `${response.status} ${await response.text()}`,
        (error: unknown) => String(error),
      ),
    (outcome) => outcome === '200 {"success":true}',
  );
}
