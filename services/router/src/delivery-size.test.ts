/** Ingest limits the size of the event. These tests show that the deliveries of the largest event fit into their topic. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliveryId, maxEventBytes, maxIdLength, readCall, userKey, webhookBody } from '@tailrace/events';
import { deliveryKey, encodeDelivery } from '@tailrace/records';
import { topicNames, topicSpecs } from '@tailrace/topology';

const names = topicNames('');
const specs = topicSpecs(names, { partitions: 1, retryScheduleMs: [] });
const largest = Number(specs.find(({ name }) => name === names.deliveries)?.config['max.message.bytes']);

/** A call of the type in which this field is as large as possible. */
function callOf(type: string, field: string): object {
  const ids = { userId: '𝄞'.repeat(maxIdLength), groupId: 'g', previousId: 'p', messageId: '𝄞'.repeat(100) };
  const text = 'x'.repeat(maxEventBytes - Buffer.byteLength(JSON.stringify(ids)) - 400);
  const isText = ['event', 'name', 'category'].includes(field);
  return { type, ...ids, event: 'e', [field]: isText ? text : { text } };
}

test('the delivery of the largest event fits into its topic, for each field that may be large', () => {
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
        attempt: 0,
        step: 0,
        deferrals: 0,
        closedUrls: [],
        eventId: event.messageId,
        type,
        sourceId: 's'.repeat(64),
        destinationId: 'd'.repeat(64),
        deliveryId: deliveryId('s', event.messageId, 'hash', 'd'),
        eventName: event.type === 'track' ? event.event : undefined,
        key: deliveryKey('d'.repeat(64), userKey(event)),
        body: Buffer.from(webhookBody(event)),
      });
      const bytes = [key, value, JSON.stringify(headers)].reduce(
        (sum, part) => sum + Buffer.byteLength(part ?? ''),
        0,
      );
      // The other half is left for the headers that a retry or a dead letter adds.
      assert.ok(bytes < largest / 2, `${type} ${field}: ${bytes}`);
    }
  }
});
