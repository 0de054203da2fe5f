/**
 * `doctor --event`: an event goes through ingest, router and delivery to a receiver in this process, and control says how it ended.
 * The source and the destination of the event exist only meanwhile.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { isIPv6, type AddressInfo } from 'node:net';
import type { Schema } from '@tailrace/api';
import type { Destination, Source } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import { verifySignature } from '@tailrace/signing';
import { openApi, type Api } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import type { CommandContext } from '../command.ts';
import { pause } from '../terminal/terminal.ts';
import { findingsAbout, type Finding } from './finding.ts';
import { readLimited, request } from './replicas/look.ts';

const { ok, warn, fail, unknown } = findingsAbout('event');

/** The id of the source and of the destination. */
const id = 'tailrace-doctor';
/** Their name. An entry of the user that has the id has another name, and is not touched. */
const name = 'Event of tailrace doctor';

const waitMs = 60_000;
const pollEveryMs = 500;
/** Those of the event and of the sample that control sends before; more are answered and forgotten. */
const mostKept = 10;

/** @param address of this machine, as delivery reaches it */
export async function checkEvent(
  context: CommandContext,
  address: string,
  { control, ingest }: { readonly control: string | undefined; readonly ingest: string | undefined },
): Promise<Finding> {
  if (control === undefined || ingest === undefined) {
    const hint = 'Set TAILRACE_URL, and the address of ingest with --ingest.';
    return unknown('no event was sent, because the address of control or of ingest is not known.', hint);
  }
  const receiver = await startReceiver(address);
  if (typeof receiver === 'string') {
    const hint = 'Give --event an address of this machine that delivery reaches.';
    return fail(`no event was sent, because nothing can listen at ${address}: ${receiver}.`, hint);
  }
  using _ends = receiver;
  try {
    const api = openApi({ ...context, env: { ...context.env, TAILRACE_URL: control } });
    return await sendThrough(api, ingest, receiver, context.terminal.interruption());
  } catch (error) {
    if (!isTailraceError(error)) throw error;
    return fail(`the event was given up: ${error.message}`);
  }
}

interface Receiver extends Disposable {
  readonly url: string;
  readonly received: readonly { readonly body: string; readonly signature: string | undefined }[];
}

/** Answers everything with 200. Resolves with the reason as text if it cannot listen. */
async function startReceiver(address: string): Promise<Receiver | string> {
  const received: { body: string; signature: string | undefined }[] = [];
  const receive = async (message: IncomingMessage): Promise<void> => {
    const body = await readLimited(message);
    const signature = message.headers['x-signature'];
    if (received.length < mostKept) received.push({ body, signature: signature?.toString() });
  };
  const server = createServer((message, response) => {
    receive(message).then(
      () => response.end(),
      () => response.destroy(),
    );
  });
  try {
    await once(server.listen(0, address), 'listening');
  } catch (error) {
    return (error as Error).message;
  }
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${isIPv6(address) ? `[${address}]` : address}:${port}/`,
    received,
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

type Kind = 'sources' | 'destinations';

async function sendThrough(
  api: Api,
  ingest: string,
  receiver: Receiver,
  signal: AbortSignal,
): Promise<Finding> {
  const created: Kind[] = [];
  const create = async <T>(kind: Kind, entry: object): Promise<T> => {
    const found = await createEntry<T>(api, kind, entry);
    created.push(kind);
    return found;
  };
  try {
    const { writeKeys } = await create<Source>('sources', { enabled: false });
    const secret = await createDestination(create, receiver.url);
    const { items } = await api.send<{ items: readonly Schema['TestResult'][] }>(
      'POST',
      pathOf('destinations', id, 'test'),
      {},
    );
    const { reason, detail = '' } = items[0]?.response ?? {};
    const isAllowed = reason !== 'address-not-allowed';
    if (!isAllowed) await api.send('PATCH', pathOf('destinations', id), { enabled: false });
    else if (reason !== undefined) {
      const hint = 'Let control and delivery connect to it.';
      return fail(`no event was sent: control does not reach ${receiver.url}: ${reason} ${detail}`, hint);
    }
    // Last, because a service that finds it enabled has read the destination before.
    await api.send('PATCH', pathOf('sources', id), { enabled: true });
    const eventId = randomUUID();
    const refused = await sendEvent(ingest, writeKeys[0] ?? '', eventId);
    if (refused !== undefined) return fail(`ingest did not accept the event: ${refused}`);
    const trace = await untilEnded(api, eventId, signal);
    return findingOf(trace, receiver, isAllowed, secret);
  } finally {
    for (const kind of created.reverse()) await remove(api, kind);
  }
}

/** Replaces an entry that a killed process has left. @throws TailraceError `conflict` for an entry of the user */
async function createEntry<T>(api: Api, kind: Kind, entry: object): Promise<T> {
  const create = (): Promise<T> => api.send('POST', pathOf(kind), { id, name, ...entry });
  try {
    return await create();
  } catch (error) {
    if (!isTailraceError(error, 'conflict')) throw error;
    const left = await api.get<Source | Destination>(pathOf(kind, id));
    if (left.name !== name) throw error;
    await remove(api, kind);
    return create();
  }
}

/** Resolves with its secret; undefined where control has no key to seal one. */
async function createDestination(
  create: (kind: Kind, entry: object) => Promise<unknown>,
  url: string,
): Promise<string | undefined> {
  const withSecret = (sharedSecret?: string): Promise<unknown> =>
    create('destinations', {
      type: 'Webhooks',
      sources: [id],
      proxy: 'none',
      settings: { sharedSecret, webhooks: [{ url }] },
    });
  const secret = randomBytes(24).toString('hex');
  try {
    await withSecret(secret);
    return secret;
  } catch (error) {
    if (!isTailraceError(error, 'secret-key-missing')) throw error;
    await withSecret();
    return undefined;
  }
}

async function remove(api: Api, kind: Kind): Promise<void> {
  try {
    await api.send('DELETE', pathOf(kind, id), undefined, kind === 'sources' ? { force: true } : {});
  } catch (error) {
    if (!isTailraceError(error, 'not-found')) throw error;
  }
}

/** Resolves with why ingest did not accept it. */
async function sendEvent(ingest: string, writeKey: string, eventId: string): Promise<string | undefined> {
  const answer = await request(`${ingest}/v1/track`, waitMs, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${writeKey}:`)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messageId: eventId, userId: id, event: name, properties: { eventId } }),
  });
  if (typeof answer === 'string') return `${answer}.`;
  return answer.status === 200 ? undefined : `${answer.status} ${answer.body}`;
}

async function untilEnded(api: Api, eventId: string, signal: AbortSignal): Promise<Schema['EventTrace']> {
  const deadline = performance.now() + waitMs;
  const since = new Date(Date.now() - waitMs).toISOString();
  for (;;) {
    const trace = await api.get<Schema['EventTrace']>(pathOf('events', eventId), { since });
    const isPending = trace.deliveries.some(({ status }) => status === 'waiting' || status === 'retrying');
    const hasEnded = !isPending && /^(routed|filtered|rejected|no-destination)$/.test(trace.outcome);
    if (hasEnded || performance.now() > deadline || !(await pause(pollEveryMs, signal))) return trace;
  }
}

function findingOf(
  { eventId, outcome, explanation, deliveries: [delivery] }: Schema['EventTrace'],
  { url, received }: Receiver,
  isAllowed: boolean,
  secret: string | undefined,
): Finding {
  if (!isAllowed && outcome === 'filtered') {
    return warn(
      `an event went through ingest and router, and was not sent, because control is not allowed to connect to ${url}.`,
      'To try delivery too, allow the address with TAILRACE_ALLOW_PRIVATE_NETWORKS of control and delivery.',
    );
  }
  if (delivery?.status !== 'delivered') {
    const { status = 'unknown', reason = 'no reason' } = delivery ?? {};
    const says = `the event was not delivered. ${explanation}${delivery ? ` Delivery: ${status}, ${reason}.` : ''}`;
    return fail(says, 'See the log of router and delivery.');
  }
  const webhook = received.find(({ body }) => body.includes(eventId));
  if (!webhook) return fail(`the event was delivered at ${url}, but not to this process.`);
  if (secret === undefined)
    return ok(`an event was delivered to ${url}, without a signature, and control knows it`);
  if (!verifySignature(secret, webhook.body, webhook.signature)) {
    return fail('the event was delivered with a wrong signature.');
  }
  return ok(`an event was delivered to ${url} with its signature, and control knows it`);
}
