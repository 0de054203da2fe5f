/** `tailrace get deliveries` and `tailrace get delivery`. */
import type { Schema } from '@tailrace/api';
import { openApi, pathOf } from '../api/client.ts';
import { showPage, type Columns } from '../api/show.ts';
import type { Run } from '../command.ts';
import { formatCount, table } from '../terminal/table.ts';
import { periodOf, type Period } from '../terminal/times.ts';
import { attemptLines } from './attempt-line.ts';

const deliveryColumns: Columns<Schema['Delivery']> = {
  CREATED: ({ createdAt }) => createdAt,
  STATUS: ({ status }) => status,
  REASON: ({ reason }) => reason ?? '-',
  DESTINATION: ({ destinationId }) => destinationId,
  TYPE: ({ type }) => type,
  EVENT: ({ event }) => event ?? '-',
  USER: ({ userKey }) => userKey,
  ATTEMPTS: ({ attempts }) => formatCount(attempts),
  DELIVERY: ({ deliveryId }) => deliveryId,
};

interface Filter extends Period {
  readonly destination?: string;
  readonly source?: string;
  readonly type?: string;
  readonly event?: string;
  readonly user?: string;
  readonly status?: string;
  readonly limit: number;
}

export const listDeliveries: Run<Filter> = async ({ user, limit, since, until, ...filter }, context) => {
  const query = { ...filter, userId: user, ...periodOf({ since, until }) };
  const page = await openApi(context).list<Schema['Delivery']>(pathOf('deliveries'), query, limit);
  return showPage(page, 'delivery', deliveryColumns);
};

export const getDelivery: Run<{ readonly id: string; readonly body?: boolean }> = async (
  { id, body },
  context,
) => {
  const api = openApi(context);
  const delivery = await api.get<Schema['DeliveryWithAttempts']>(pathOf('deliveries', id));
  const content = body
    ? await api.get<Schema['GetDeliveryBodyAnswer']>(pathOf('deliveries', id, 'body'))
    : undefined;
  return {
    text: [...deliveryLines(delivery), ...(content ? bodyLines(content) : [])],
    json: content ? { ...delivery, body: content.body } : delivery,
  };
};

function bodyLines({ masked, body }: Schema['GetDeliveryBodyAnswer']): string[] {
  return [`body${masked ? ', values masked' : ''}`, ...JSON.stringify(body, undefined, 2).split('\n')];
}

function deliveryLines(delivery: Schema['DeliveryWithAttempts']): string[] {
  const { event, userKey, reason, nextDueAt } = delivery;
  return [
    ...table([
      ['status', reason === undefined ? delivery.status : `${delivery.status}, ${reason}`],
      ...(nextDueAt === undefined ? [] : [['next attempt', nextDueAt]]),
      ['destination', delivery.destinationId],
      ['source', delivery.sourceId],
      ['call', event === undefined ? delivery.type : `${delivery.type} ${event}`],
      ['user', userKey],
      ['event id', delivery.eventId],
    ]),
    ...delivery.history.flatMap(attemptLines),
  ];
}
