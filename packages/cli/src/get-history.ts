/** `tailrace get` for what happened: deliveries, the events of a source, its usage. */
import { eventTypes, formatInstant } from '@tailrace/events';
import { openApi, pathOf, type Api, type Page } from './api.ts';
import { attemptLines, type DeliveryAttempt } from './attempt-line.ts';
import { defineCommand, exitCodes, type Command, type OptionSpecs, type OptionValues } from './command.ts';
import { limitOption, outcomeOfPage, type Columns } from './get.ts';
import { formatCount, table } from './table.ts';
import { aboutTimes, timeOf } from './times.ts';

const period = {
  since: { type: 'string', placeholder: 'TIME', help: 'only what is of this time or later' },
  until: { type: 'string', placeholder: 'TIME', help: 'only what is from before this time' },
} as const satisfies OptionSpecs;

/** The query that the options mean. */
function periodOf({ since, until }: OptionValues<typeof period>) {
  const instant = (name: 'since' | 'until', text: string | undefined): string | undefined => {
    const time = timeOf(name, text);
    return time === undefined ? undefined : formatInstant(time);
  };
  return { since: instant('since', since), until: instant('until', until) };
}

export interface Delivery {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly sourceId: string;
  readonly destinationId: string;
  readonly type: string;
  readonly event?: string;
  /** The userId, else the anonymousId. */
  readonly userKey: string;
  readonly status: 'waiting' | 'delivered' | 'retrying' | 'dead';
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

const getDeliveries = defineCommand({
  name: 'get deliveries',
  summary: 'list deliveries, newest first',
  details: [aboutTimes],
  examples: [
    'get deliveries',
    'get deliveries --destination crm --status dead --since 2h',
    "get deliveries --user ada --event 'Order Completed' --output json",
  ],
  through: 'api',
  options: {
    destination: { type: 'string', placeholder: 'ID', help: 'only those to this destination' },
    source: { type: 'string', placeholder: 'ID', help: 'only those of this source' },
    type: {
      type: 'string',
      placeholder: 'TYPE',
      choices: eventTypes,
      help: 'only those of this type of call',
    },
    event: { type: 'string', placeholder: 'EVENT', help: 'only those of this track event' },
    user: { type: 'string', placeholder: 'USER', help: 'only those of this user' },
    status: {
      type: 'string',
      placeholder: 'STATUS',
      choices: ['waiting', 'delivered', 'retrying', 'dead'],
      help: 'only those that stand like this',
    },
    ...period,
    ...limitOption,
  },
  async run({ destination, source, type, event, user, status, since, until, limit }, context) {
    const query = { destination, source, type, event, userId: user, status, ...periodOf({ since, until }) };
    const page = await openApi(context).list<Delivery>(pathOf('deliveries'), query, limit);
    return outcomeOfPage(page, 'delivery', deliveryColumns);
  },
});

const getDelivery = defineCommand({
  name: 'get delivery',
  summary: 'show a delivery: every attempt, and what each URL answered',
  details: ['With --body also what is sent; its values are masked for a token that may only read.'],
  examples: ['get delivery 5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60 --body'],
  through: 'api',
  options: {
    id: { type: 'string', positional: true, required: true, placeholder: 'ID', help: "the delivery's id" },
    body: { type: 'boolean', help: 'also the body' },
  },
  async run({ id, body }, context) {
    const api = openApi(context);
    const delivery = await api.get<DeliveryHistory>(pathOf('deliveries', id));
    const content = body ? await api.get<DeliveryBody>(pathOf('deliveries', id, 'body')) : undefined;
    return {
      exitCode: exitCodes.done,
      text: [...deliveryLines(delivery), ...(content ? bodyLines(content) : [])],
      json: content ? { ...delivery, body: content.body } : delivery,
    };
  },
});

interface DeliveryBody {
  readonly masked: boolean;
  readonly body: unknown;
}

function bodyLines({ masked, body }: DeliveryBody): string[] {
  return [`body${masked ? ', its values masked' : ''}`, ...JSON.stringify(body, undefined, 2).split('\n')];
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

const sourceArgument = {
  source: {
    type: 'string',
    positional: true,
    placeholder: 'SOURCE',
    help: "a source's id; all sources where it is left out",
  },
} as const satisfies OptionSpecs;

interface SentEvent {
  readonly source: string;
  readonly event: string;
  readonly count: number;
  readonly filtered: number;
  readonly firstSeenAt?: string;
  readonly lastSeenAt?: string;
  readonly blocked: boolean;
}

const eventColumns: Columns<SentEvent> = {
  SOURCE: ({ source }) => source,
  EVENT: ({ event }) => event,
  COUNT: ({ count }) => formatCount(count),
  FILTERED: ({ filtered }) => formatCount(filtered),
  'FIRST SEEN': ({ firstSeenAt }) => firstSeenAt ?? '-',
  'LAST SEEN': ({ lastSeenAt }) => lastSeenAt ?? '-',
  BLOCKED: ({ blocked }) => (blocked ? 'yes' : 'no'),
};

const getEvents = defineCommand({
  name: 'get events',
  summary: 'list the track events that sources have sent',
  details: ['How often each was sent, when first and last, and whether it is blocked. See tailrace block.'],
  examples: ['get events web', 'get events'],
  through: 'api',
  options: { ...sourceArgument, ...limitOption },
  async run({ source, limit }, context) {
    const api = openApi(context);
    const page = await perSource<SentEvent>(api, source, (id) =>
      api.list(pathOf('sources', id, 'events'), {}, limit),
    );
    return outcomeOfPage(page, 'event', eventColumns);
  },
});

interface Usage {
  readonly source: string;
  readonly day: string;
  readonly calls: number;
  readonly filtered: number;
  readonly byType: Readonly<Record<string, number>>;
}

const usageColumns: Columns<Usage> = {
  SOURCE: ({ source }) => source,
  DAY: ({ day }) => day,
  CALLS: ({ calls }) => formatCount(calls),
  FILTERED: ({ filtered }) => formatCount(filtered),
  'BY TYPE': ({ byType }) =>
    Object.entries(byType)
      .map(([type, count]) => `${type} ${formatCount(count)}`)
      .join(', '),
};

const getUsage = defineCommand({
  name: 'get usage',
  summary: 'show how many calls sources have sent, by day',
  details: ['Days are in UTC. Filtered calls are counted too.', aboutTimes],
  examples: ['get usage', 'get usage web --since 30d'],
  through: 'api',
  options: { ...sourceArgument, ...period },
  async run({ source, since, until }, context) {
    const api = openApi(context);
    const query = periodOf({ since, until });
    const page = await perSource<Usage>(api, source, async (id) => {
      const { items } = await api.get<{ items: readonly Usage[] }>(pathOf('sources', id, 'usage'), query);
      return { items, more: false };
    });
    return outcomeOfPage(page, 'day', usageColumns);
  },
});

/** The items of one source, or of every one, each with its source. */
export async function perSource<T extends { readonly source: string }>(
  api: Api,
  source: string | undefined,
  pageOf: (sourceId: string) => Promise<Page<Omit<T, 'source'>>>,
): Promise<Page<Omit<T, 'source'> & { readonly source: string }>> {
  const ids =
    source === undefined
      ? (await api.list<{ readonly id: string }>(pathOf('sources'), {}, Infinity)).items.map(({ id }) => id)
      : [source];
  const pages = [];
  for (const id of ids) {
    const { items, more } = await pageOf(id);
    pages.push({ items: items.map((item) => ({ ...item, source: id })), more });
  }
  return { items: pages.flatMap(({ items }) => items), more: pages.some(({ more }) => more) };
}

export const getHistory: readonly Command[] = [getDeliveries, getDelivery, getEvents, getUsage];
