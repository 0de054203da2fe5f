/** A while in the life of three destinations, for pages and screenshots: one healthy, one that refuses, one with an open breaker. */
import { names, type Api } from '../../../services/control/src/testing/api.ts';
import { deliveryKey } from '@tailrace/records';
import { createFlow } from '../../../services/control/src/testing/flow.ts';

export interface SeedOptions {
  /** Deliveries of the healthy destination. */
  readonly delivered?: number;
  /** Dead letters of the destination that refuses. */
  readonly dead?: number;
  /** Over this many minutes before now. */
  readonly minutes?: number;
}

const events = ['Order Completed', 'Product Viewed', 'Signed Up', 'Cart Updated', 'Order Refunded'];
const users = ['ada', 'grace', 'alan', 'edsger', 'barbara', 'katherine'];
const minuteMs = 60_000;
/** Of a failed attempt. */
const exchange = {
  address: '203.0.113.7:443',
  dnsMs: 2,
  connectMs: 8,
  tlsMs: 12,
  answerMs: 9,
  requestHeaders: {
    'Content-Type': 'application/json',
    'User-Agent': 'Tailrace/1.0',
    Authorization: '********',
  },
  responseHeaders: { 'content-type': 'application/json', server: 'nginx', 'x-request-id': '5f1c7a' },
  responseBody: '{"error":"invalid payload","field":"properties.total"}',
};
/** As a receiver gets it. */
const signedUp = Buffer.from(
  '{"version":1,"type":"track","userId":"ada","timestamp":"2026-11-21T09:43:25.118Z","event":"Signed Up","properties":{"plan":"pro"}}',
);
const orders = {
  all: [
    { field: 'properties.total', atLeast: 100 },
    {
      not: {
        any: [
          { field: 'properties.test', equals: true },
          { field: 'userId', exists: false },
        ],
      },
    },
  ],
};

/** Resolves when control shows it. */
export async function seed(
  control: Api,
  { delivered = 240, dead = 14, minutes = 55 }: SeedOptions = {},
): Promise<void> {
  const flow = createFlow(control.kafka);
  for (const [id, name] of [
    ['web', 'Website'],
    ['app', 'Mobile app'],
  ]) {
    await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id, name } });
  }
  for (const [id, name] of [
    ['crm', 'Customer database'],
    ['erp', 'Orders'],
    ['mailer', 'Mail service'],
  ]) {
    const settings = { webhooks: [{ url: `https://${id}.example.com/hook` }] };
    const body = {
      id,
      name,
      type: 'Webhooks',
      enabled: true,
      sources: ['web', 'app'],
      settings,
      ...(id === 'erp' && { filter: { condition: orders } }),
    };
    await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  }
  const now = Date.now();
  const at = (index: number, of: number): number => now - minutes * minuteMs * (1 - index / of) - 5_000;
  for (let index = 0; index < delivered; index += 1) {
    const made = flow.delivery('crm', {
      key: deliveryKey('crm', users[index % users.length] ?? 'ada'),
      eventName: events[index % events.length],
      sourceId: index % 3 ? 'web' : 'app',
    });
    const startedAt = new Date(at(index, delivered)).toISOString();
    const latencyMs = 18 + ((index * 37) % 60) + (index % 29 === 0 ? 240 : 0);
    const urls = [{ url: 'https://crm.example.com/hook', status: 200, latencyMs }];
    // A list of 100,000 needs no more: the rest is known from the attempts.
    if (index >= delivered - 240) await flow.publish(names.deliveries, made);
    await flow.attempt(made, 'delivered', { startedAt, latencyMs, urls });
  }
  for (let index = 0; index < dead; index += 1) {
    const made = flow.delivery('erp', { eventName: 'Order Completed' });
    const urls = [
      { url: 'https://erp.example.com/hook', status: 400, reason: 'client-error', latencyMs: 31, exchange },
    ];
    const startedAt = new Date(at(index, dead)).toISOString();
    const given = { startedAt, latencyMs: 31, reason: 'client-error', urls };
    await flow.attempt(made, 'dead', given);
    await flow.publish(names.deliveriesDead, { ...made, attempt: 1, reason: 'client-error' });
  }
  for (let index = 0; index < 9; index += 1) {
    const made = flow.delivery('mailer', { eventName: 'Signed Up', body: signedUp });
    const dueAt = now + 20_000 + index * 1_000;
    const urls = [{ url: 'https://mailer.example.com/hook', reason: 'connection-refused', latencyMs: 4 }];
    const startedAt = new Date(now - 4 * minuteMs + index * 2_000).toISOString();
    const given = {
      startedAt,
      latencyMs: 4,
      reason: 'connection-refused',
      nextDueAt: new Date(dueAt).toISOString(),
      breakerOpenSince: new Date(now - 3 * minuteMs).toISOString(),
      urls,
    };
    await flow.publish(names.deliveries, made);
    await flow.attempt(made, 'retry', given);
    await flow.publish(names.retryTier(1_000), {
      ...made,
      attempt: 1,
      step: 1,
      dueAt,
      reason: 'circuit-open',
    });
  }
  await flow.decision('event-filtered', [
    {
      reason: 'filter',
      rule: { path: 'condition.all[0]', text: 'properties.total atLeast 100' },
      destinations: [{ id: 'erp' }],
    },
    { reason: 'disabled', destinations: [{ id: 'mailer' }] },
  ]);
  const publisher = control.kafka.publisher({});
  for (const userId of users) {
    const call = { type: 'track', messageId: `call-of-${userId}`, userId, event: 'Cart Emptied' };
    const value = JSON.stringify(call);
    await publisher.publish({ topic: names.events, key: userId, value, headers: { 'source-id': 'web' } });
  }
  await flow.usage('web', delivered, 6);
  await flow.usage('app', 60);
  await control.historyRead();
}
