/** A sample of each type of call, and the body that its webhook would have. */
import { formatInstant, webhookBody, type EventType, type TailraceEvent } from '@tailrace/events';

const context = { library: { name: 'tailrace-test', version: '1' } };
const traits = { name: 'Test User', plan: 'sample' };

const fields: Readonly<Record<EventType, object>> = {
  track: { event: 'Test Event', properties: { sample: true } },
  identify: { traits },
  page: {
    name: 'Test Page',
    properties: { path: '/test', title: 'Test Page', url: 'https://example.com/test' },
  },
  screen: { name: 'Test Screen', properties: {} },
  group: { groupId: 'test-group', traits: { name: 'Test Group' } },
  alias: { previousId: 'test-anonymous' },
  delete: {},
};

export function sampleEvent(type: EventType, now = Date.now()): TailraceEvent {
  const timestamp = formatInstant(now);
  const messageId = 'test';
  const common = { userId: 'test-user', timestamp, receivedAt: timestamp, messageId, context };
  return { ...common, ...fields[type], type } as TailraceEvent;
}

export function sampleBody(type: EventType): Buffer {
  return Buffer.from(webhookBody(sampleEvent(type)));
}
