/** `tailrace get deliveries` and `tailrace get delivery`. */
import { openApi, pathOf } from '../api/client.ts';
import { showPage, type Columns } from '../api/show.ts';
import { exitCodes, type Run } from '../command.ts';
import { formatCount, table } from '../terminal/table.ts';
import { periodOf, type Period } from '../terminal/times.ts';
import { attemptLines, type DeliveryAttempt } from './attempt-line.ts';

export interface Delivery {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly sourceId: string;
  readonly destinationId: string;
  readonly type: string;
  readonly event?: string;
  /** The userId, or the anonymousId if there is none. */
  readonly userKey: string;
  readonly status: 'waiting' | 'delivered' | 'retrying' | 'dead' | 'unknown';
  readonly createdAt: string;
  readonly changedAt?: string;
  readonly attempts: number;
  readonly reason?: string;
  readonly nextDueAt?: string;
}

export interface DeliveryHistory extends Delivery {
  readonly history: readonly DeliveryAttempt[];
}

const deliveryColumns: Columns<Delivery> = {
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
  const page = await openApi(context).list<Delivery>(pathOf('deliveries'), query, limit);
  return showPage(page, 'delivery', deliveryColumns);
};

export const getDelivery: Run<{ readonly id: string; readonly body?: boolean }> = async (
  { id, body },
  context,
) => {
  const api = openApi(context);
  const delivery = await api.get<DeliveryHistory>(pathOf('deliveries', id));
  const content = body ? await api.get<DeliveryBody>(pathOf('deliveries', id, 'body')) : undefined;
  return {
    exitCode: exitCodes.done,
    text: [...deliveryLines(delivery), ...(content ? bodyLines(content) : [])],
    json: content ? { ...delivery, body: content.body } : delivery,
  };
};

interface DeliveryBody {
  readonly masked: boolean;
  readonly body: unknown;
}

function bodyLines({ masked, body }: DeliveryBody): string[] {
  return [`body${masked ? ', values masked' : ''}`, ...JSON.stringify(body, undefined, 2).split('\n')];
}

function deliveryLines(delivery: DeliveryHistory): string[] {
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
