/** The call on which a destination is tried: that of the request, or a sample of a type. */
import {
  callBytes,
  eventTypes,
  formatInstant,
  maxEventBytes,
  readCall,
  type EventType,
  type TailraceEvent,
} from '@tailrace/events';
import { invalidField } from '../../http/errors.ts';

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

function sampleEvent(type: EventType): TailraceEvent {
  const timestamp = formatInstant(Date.now());
  const messageId = 'test';
  const common = { userId: 'test-user', timestamp, receivedAt: timestamp, messageId, context };
  return { ...common, ...fields[type], type } as TailraceEvent;
}

/**
 * The event that the router would make of the call.
 *
 * @param given `call` with the digits of its numbers; without one, the sample of `type` is used
 * @throws TailraceError `invalid-request`
 */
export function triedEvent({ call, type = 'track' }: Readonly<Record<string, unknown>>): TailraceEvent {
  if (call === undefined) {
    const sample = eventTypes.find((known) => known === type);
    if (sample) return sampleEvent(sample);
    throw invalidField('type', `is not one of ${eventTypes.join(', ')}`);
  }
  const bytes = callBytes(call);
  if (bytes > maxEventBytes) {
    throw invalidField('call', `has ${bytes} bytes as JSON; ${maxEventBytes} are allowed`);
  }
  const reading = readCall(call, { receivedAt: Date.now(), enriched: true, fallbackMessageId: () => 'test' });
  if (reading.ok) return reading.event;
  throw invalidField('call', `is not valid: ${reading.message.replace(/\.$/, '')}`);
}

/**
 * The fields of a body that may be absent.
 *
 * @throws TailraceError `invalid-request`
 */
export function fieldsOf(body: unknown, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (body === undefined || body === null) return {};
  if (typeof body !== 'object' || Array.isArray(body)) throw invalidField('body', 'is not an object');
  const unknown = Object.keys(body).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    throw invalidField(unknown.slice(0, 64), `is not known; known fields are ${known.join(', ')}`);
  }
  return body as Readonly<Record<string, unknown>>;
}
