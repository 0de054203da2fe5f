/** Sends a message over the channel of a notification, once. All of it is bounded in time, and dials only addresses that webhooks may reach. */
import { connect, isIP, type Socket } from 'node:net';
import { getCACertificates } from 'node:tls';
import { builtInSource, type ConfigLookup, type Notification } from '@tailrace/config';
import { readCall } from '@tailrace/events';
import { bodyFor, encodeBody } from '@tailrace/routing';
import {
  classifyError,
  createNameLookup,
  createSender,
  requestHeaders,
  targetsOf,
  type Answer,
  type Sender,
  type SenderOptions,
} from '@tailrace/webhook';
import { linesOf, pagerDutyBodies, slackBody, withLinks, type Outgoing } from './message.ts';

/** `mayPass`: it is worth another try. */
export type Sent =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string; readonly mayPass: boolean };

export type Messenger = ReturnType<typeof createMessenger>;

export interface MessengerOptions extends Pick<SenderOptions, 'policy' | 'timeoutMs' | 'proxy'> {
  /** PEM of certificate authorities to trust beside those that Node trusts. */
  readonly authorities?: readonly string[] | undefined;
  /** Where messages link to. */
  readonly consoleUrl?: string | undefined;
}

const pagerDutyUrl = 'https://events.pagerduty.com/v2/enqueue';
/** Of a message: no request is begun after it. */
export const longestMs = 60_000;
const longestRequestMs = 10_000;
/** Of the whole conversation with a mail server. */
const longestMailMs = 20_000;
const maxReasonLength = 300;

export function createMessenger(options: MessengerOptions) {
  const timeoutMs = Math.min(options.timeoutMs, longestRequestMs);
  const { policy, authorities = [], proxy, consoleUrl } = options;
  const lookup = createNameLookup();
  const sender = createSender({ timeoutMs, policy, authorities, lookup, proxy });

  const post = async (id: string, url: string, body: object): Promise<Sent> => {
    const { origin, pathname, search } = new URL(url);
    return sentOf(
      await sender.send({
        destinationId: `notification/${id}`,
        origin,
        path: `${pathname}${search}`,
        headers: ['Content-Type', 'application/json', 'User-Agent', 'Tailrace/1.0'],
        body: Buffer.from(JSON.stringify(body)),
      }),
    );
  };

  const dial = async (server: URL): Promise<Socket> => {
    const host = server.hostname.replace(/^\[|\]$/g, '');
    const addresses = isIP(host) === 0 ? await lookup(host) : [{ address: host }];
    const allowed = addresses.find(({ address }) => policy.allows(address));
    if (!allowed) {
      throw Object.assign(new Error(`${host} has no address that notifications may reach`), {
        code: 'ADDRESS_NOT_ALLOWED',
      });
    }
    return connect({ host: allowed.address, port: portOf(server) });
  };

  const mail = async (email: NonNullable<Notification['email']>, { message, group }: Outgoing) => {
    // Loaded when the first message is sent: most installations send none.
    const { createTransport } = await import('nodemailer');
    const server = new URL(email.server);
    const host = server.hostname.replace(/^\[|\]$/g, '');
    let socket: Socket | undefined;
    const transport = createTransport({
      host,
      port: portOf(server),
      secure: server.protocol === 'smtps:',
      // A password is not sent in plain text.
      requireTLS: email.user !== undefined,
      ...(email.user !== undefined && { auth: { user: email.user, pass: email.password ?? '' } }),
      tls: {
        rejectUnauthorized: true,
        minVersion: 'TLSv1.2',
        ...(isIP(host) === 0 && { servername: host }),
        ...(authorities.length > 0 && { ca: [...getCACertificates('default'), ...authorities] }),
      },
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      getSocket(_options: unknown, callback: (error: Error | null, made?: object) => void) {
        dial(server).then(
          (dialled) => {
            socket = dialled;
            dialled.once('error', callback);
            dialled.once('connect', () => {
              dialled.off('error', callback);
              callback(null, { connection: dialled });
            });
          },
          (error: unknown) => {
            callback(error as Error);
          },
        );
      },
    } as Parameters<typeof createTransport>[0]);
    const deadline = setTimeout(
      () => socket?.destroy(new Error('the mail server took too long')),
      longestMailMs,
    );
    try {
      await transport.sendMail({
        from: email.from,
        to: [...email.to],
        subject: `[Tailrace] ${message.title}`.slice(0, 300),
        text: `${message.title}\n\n${linesOf(message)
          .map(({ text, url }) => (url === undefined ? `- ${text}` : `- ${text}\n  ${url}`))
          .join('\n')}\n`,
        headers: { 'X-Tailrace-Notification': group },
      });
      return { ok: true } as const;
    } catch (error) {
      return mailFailure(error as Error);
    } finally {
      clearTimeout(deadline);
      transport.close();
      socket?.destroy();
    }
  };

  return {
    async send(
      notification: Notification,
      unlinked: Outgoing,
      config: Pick<ConfigLookup, 'destination'>,
      until = performance.now() + longestMs,
    ): Promise<Sent> {
      const { id, destination, webhook, email } = notification;
      const outgoing = consoleUrl === undefined ? unlinked : withLinks(unlinked, consoleUrl);
      if (email) return mail(email, outgoing);
      if (destination !== undefined) return toDestination(sender, destination, outgoing, config);
      const { format = 'json', url = pagerDutyUrl, routingKey = '' } = webhook ?? {};
      if (format === 'json') return post(id, url, outgoing.message);
      if (format === 'slack') return post(id, url, slackBody(outgoing.message));
      for (const body of pagerDutyBodies(outgoing, routingKey)) {
        const sent = await post(id, url, body);
        if (!sent.ok) return sent;
        if (performance.now() > until) return { ok: false, reason: 'took too long', mayPass: false };
      }
      return { ok: true };
    },
    close: () => sender.close(),
  };
}

/** Signed as a delivery; as for a delivery, one URL that accepts it is enough. */
async function toDestination(
  sender: Sender,
  id: string,
  { message, group }: Outgoing,
  config: Pick<ConfigLookup, 'destination'>,
): Promise<Sent> {
  const destination = config.destination(id);
  if (!destination?.enabled) {
    return {
      ok: false,
      reason: `the destination ${id} is ${destination ? 'disabled' : 'deleted'}`,
      mayPass: false,
    };
  }
  const call = { type: 'track', anonymousId: builtInSource.id, event: 'notification', messageId: group };
  const reading = readCall(
    { ...call, properties: message },
    { receivedAt: Date.parse(message.at), enriched: true, fallbackMessageId: () => group },
  );
  if (!reading.ok) throw new Error(reading.message);
  const body = encodeBody(bodyFor(reading.event, destination), destination.settings);
  const sent = await Promise.all(
    targetsOf(destination).map(async (target) => {
      const deliveryId = `notification-${Date.parse(message.at)}`;
      const { contentType } = destination.settings;
      const stamp = { deliveryId, startedAt: Date.now(), contentType };
      const headers = requestHeaders(destination, target, body, stamp);
      return sentOf(await sender.send({ ...target, destinationId: id, headers, body }));
    }),
  );
  return sent.find(({ ok }) => ok) ?? sent[0] ?? { ok: true };
}

function sentOf(answer: Answer): Sent {
  if (answer.kind === 'success') return { ok: true };
  const { kind, reason, status, detail } = answer;
  const text = [reason, status, detail].filter((part) => part !== undefined).join(' ');
  return { ok: false, reason: text.slice(0, maxReasonLength), mayPass: kind === 'retryable' };
}

function mailFailure(error: Error & { readonly responseCode?: number }): Sent {
  const { responseCode } = error;
  if (responseCode !== undefined) {
    const reason = `the mail server answered: ${error.message}`.slice(0, maxReasonLength);
    return { ok: false, reason, mayPass: responseCode < 500 };
  }
  return sentOf(classifyError(error));
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'smtps:' ? 465 : 587) : Number(port);
}
