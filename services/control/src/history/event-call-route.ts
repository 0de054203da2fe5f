/** The route that shows the call of an event. A delivery has it only as the body that its destination gets. */
import { TailraceError } from '@tailrace/errors';
import { writeJson, type TailraceEvent } from '@tailrace/events';
import type { History } from '@tailrace/history';
import type { ConsumedRecord } from '@tailrace/kafka';
import { decodeDelivery, parsePosition } from '@tailrace/records';
import type { FrameReader } from '@tailrace/registry';
import { readEvent, readRecord } from '@tailrace/routing';
import Type from 'typebox';
import { reachesDelivery, reachesSource } from '../access/limits.ts';
import { audit } from '../http/audit.ts';
import { routesOf, type Api } from '../http/api.ts';
import { namedObject } from '../http/schemas.ts';
import type { RecordReader } from '../records/reader.ts';

export interface EventCallNeeds {
  readonly records: RecordReader;
  readonly history: Pick<History, 'read'>;
  readonly frames: Pick<FrameReader, 'read' | 'fetchSchema'>;
  /** The topic `events`. */
  readonly topic: string;
}

const answer = namedObject('EventCall', {
  eventId: Type.String(),
  text: Type.String({ description: 'the call as JSON, with what ingest has added' }),
});

export function eventCallRoute(app: Api, { records, history, frames, topic }: EventCallNeeds): void {
  const eventOf = async (record: ConsumedRecord): Promise<TailraceEvent | undefined> => {
    let reading = readRecord(record, frames);
    if (reading.outcome === 'needs-schema') {
      await frames.fetchSchema(reading.schemaId);
      reading = readRecord(record, frames);
    }
    const read = reading.outcome === 'read' ? readEvent(record, reading) : undefined;
    return read?.ok ? read.event : undefined;
  };

  routesOf(app, 'History', ['history-unavailable']).get('/events/:eventId/call', {
    operationId: 'getEventCall',
    summary: 'Get the call of an event',
    description:
      'The call as it was accepted, of an event that has a delivery: to try a filter or a transform on it. It is read from the topics, which keep it ' +
      'for seven days. A token that is limited to destinations needs the source too. The audit log has each read.',
    params: Type.Object({ eventId: Type.String({ description: 'the messageId of the call' }) }),
    response: { 200: answer },
    handler: async (request) => {
      const { params, caller } = request;
      const { eventId } = params;
      const { deliveries } = history.read((queries) =>
        queries.ofEvent(
          eventId,
          (one) => reachesDelivery(caller, one) && reachesSource(caller, one.sourceId),
        ),
      );
      const place = deliveries.find((one) => one.place)?.place;
      const record = place && (await records.at(caller, place));
      const delivery = record ? decodeDelivery(record) : undefined;
      const position = typeof delivery === 'object' ? parsePosition(delivery.eventPosition) : undefined;
      const stored = position && (await records.at(caller, { topic, ...position }));
      const event = stored && (await eventOf(stored));
      if (event?.messageId !== eventId) {
        const message = `There is no call of the event ${JSON.stringify(eventId)} with a delivery, or it has expired.`;
        throw new TailraceError('not-found', message);
      }
      audit(request, 'event.read-call', `event/${eventId}`);
      return { eventId, text: writeJson(event) };
    },
  });
}
