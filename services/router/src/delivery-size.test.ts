/** What ingest measures is the event. That the delivery made of it fits into its topic follows, and is shown here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliveryId, maxEventBytes, maxIdLength, readCall, userKey, webhookBody } from '@tailrace/events';
import { deliveryKey, encodeDelivery, topicNames, topicSpecs } from '@tailrace/topics';

const names = topicNames('');
const specs = topicSpecs(names, { partitions: 1, retryScheduleMs: [] });
const largest = Number(specs.find(({ name }) => name === names.deliveries)?.config['max.message.bytes']);

/** A call of the type whose bytes are, as far as possible, in this field. */
function callOf(type: string, field: string): object {
  const ids = { userId: '𝄞'.repeat(maxIdLength), groupId: 'g', previousId: 'p', messageId: '𝄞'.repeat(100) };
  const text = 'x'.repeat(maxEventBytes - Buffer.byteLength(JSON.stringify(ids)) - 400);
  const isText = ['event', 'name', 'category'].includes(field);
  return { type, ...ids, event: 'e', [field]: isText ? text : { text } };
}

test('the delivery of the largest event fits into its topic, whichever field is large', () => {
  assert.ok(largest > 0);
  for (const type of ['track', 'identify', 'page', 'screen', 'group', 'alias', 'delete']) {
    for (const field of ['event', 'name', 'category', 'properties', 'traits', 'context', 'integrations']) {
      const reading = readCall(callOf(type, field), {
        enriched: true,
        receivedAt: 0,
        fallbackMessageId: () => '',
      });
      assert.ok(reading.ok, reading.ok ? '' : reading.message);
      const { event } = reading;
      const eventBytes = Buffer.byteLength(JSON.stringify(event));
      assert.ok(eventBytes <= maxEventBytes && eventBytes > maxEventBytes - 1_024, `${type} ${field}`);
      const { key, value, headers } = encodeDelivery(names.deliveries, {
        ...{ attempt: 0, step: 0, deferrals: 0, closedUrls: [], eventId: event.messageId, type },
        ...{ sourceId: 's'.repeat(64), destinationId: 'd'.repeat(64) },
        deliveryId: deliveryId('s', event.messageId, 'd'),
        eventName: event.type === 'track' ? event.event : undefined,
        key: deliveryKey('d'.repeat(64), userKey(event)),
        body: Buffer.from(webhookBody(event)),
      });
      const bytes = [key, value, JSON.stringify(headers)].reduce(
        (sum, part) => sum + Buffer.byteLength(part ?? ''),
        0,
      );
      // Half of it is left for what a retry or a dead letter adds.
      assert.ok(bytes < largest / 2, `${type} ${field}: ${bytes}`);
    }
  }
});
