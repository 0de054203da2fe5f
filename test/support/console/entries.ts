/** Entries of every kind, with long texts and all that they may have, for pages and screenshots. After `seed` of history.ts. */
import type { Api } from '../../../services/control/src/testing/api.ts';
import { eventually } from '@tailrace/testing';

export const deletionId = 'request-of-a-user-0123456789';
const long = 'A name that somebody has written out in full, with the team that it belongs to, and the office';
const email = {
  to: ['on-call@example.com', 'platform-team@example.com'],
  from: 'tailrace@example.com',
  server: 'smtps://smtp.example.com',
};
const webhooks = Array.from({ length: 5 }, (_, n) => ({ url: `https://receiver-${n}.example.com/hook` }));

export async function seedEntries(control: Api): Promise<void> {
  const create = (path: string, body: object) => control.expect(201, { method: 'POST', path, body });
  const put = (path: string, body?: object) => control.expect(200, { method: 'PUT', path, body });
  const start = (path: string, body: object) => control.expect(202, { method: 'POST', path, body });
  await create('/v1/sources', { id: 'long', name: long });
  await put('/v1/sources/web/blocked-events/Noise');
  const destination = { type: 'Webhooks', sources: ['web', 'app', 'long'], settings: { webhooks } };
  await create('/v1/destinations', { ...destination, id: 'a-destination-with-a-long-id', name: long });
  await create('/v1/destinations', { ...destination, id: 'paused', paused: true });
  await create('/v1/destinations', { ...destination, id: 'off', enabled: false });
  await create('/v1/tokens', { name: long, scope: 'read', sources: ['web', 'app', 'long'] });
  await create('/v1/tokens', { name: 'Grafana', scope: 'read' });
  const events = ['destination.failing', 'deliveries.dead', 'destination.disabled', 'source.silent'];
  await create('/v1/notifications', { id: 'on-call', name: long, events, email });
  const webhook = { format: 'slack', url: 'https://hooks.slack.com/services/T0/B0/secret' };
  await create('/v1/notifications', { id: 'chat', name: 'Operations chat', webhook });
  await start('/v1/deletions', { requestId: deletionId, userIds: ['zoe'] });
  const body = { userIds: ['grace', 'user-'.repeat(30)] };
  await control.expect(200, { method: 'POST', path: '/v1/suppressions', body });
  const note = 'The receiver of orders moves to a new host on Thursday.';
  await put('/v1/destinations/erp/issues/client-error', { state: 'acknowledged', note });
  await start('/v1/replays', { destination: 'erp', event: 'Order Refunded' });
  await upload(control, 'VIP customers', ['ada', 'grace', 'alan']);
}

/** Resolves when its sync has ended. */
async function upload(control: Api, name: string, userIds: readonly string[]): Promise<void> {
  const path = `/v1/sources/web/audiences/${encodeURIComponent(name)}`;
  const bytes = userIds.map((userId) => `${JSON.stringify({ userId })}\n`).join('');
  const headers = { 'content-type': 'application/x-ndjson' };
  await control.expect(202, { method: 'PUT', path, bytes, headers });
  await eventually(
    () => control.expect(200, { path }),
    ({ sync }) => (sync as { readonly state: string }).state === 'done',
  );
}
