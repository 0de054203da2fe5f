/**
 * The JSON body of a webhook: exactly the keys of docs/specification.md, rule 6.2, in that order, and no others.
 * The router builds the bytes once; they are then stored, signed and sent unchanged.
 */
import type { JsonObject, TailraceEvent } from './schema.ts';

/**
 * The body of the webhook for `event`, as JSON text.
 *
 * @param document the {@link webhookDocument} of the event, where the caller has it
 */
export function webhookBody(event: TailraceEvent, document = webhookDocument(event)): string {
  // JSON.stringify leaves out every key whose value is undefined.
  return JSON.stringify(document);
}

/** The body as an object. Keys whose value is undefined are not part of the body; its objects are those of the event. */
export function webhookDocument(event: TailraceEvent): object {
  const { type, userId, timestamp, context, properties = {}, traits = {} } = event;
  const anonymousId = userId === undefined ? event.anonymousId : undefined;
  const common = { version: 1, type, userId, anonymousId, timestamp, context };
  switch (event.type) {
    case 'track':
      return { ...common, event: event.event, properties };
    case 'identify':
      return { ...common, traits };
    case 'page':
      return { ...common, properties: withNames(event) };
    case 'screen':
      return { ...common, name: event.name, properties: withNames(event) };
    case 'group':
      return { ...common, groupId: event.groupId, traits };
    case 'alias': {
      // An alias has its two ids under its own keys, instead of the common key.
      const ids = { 'Previous ID': event.previousId, 'User ID': userId ?? event.anonymousId };
      return { version: 1, type, ...ids, timestamp, context };
    }
    case 'delete':
      return { type, userId, timestamp };
  }
}

/** The properties of a page or screen, with the name and category of the call. */
function withNames({ properties, name, category }: TailraceEvent): JsonObject {
  return { ...properties, ...(name !== undefined && { name }), ...(category !== undefined && { category }) };
}
