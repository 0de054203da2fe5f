/** `tailrace listen`: sends copies of the deliveries of a destination to a URL of the user. */
import type { Schema } from '@tailrace/api';
import type { Destination } from '@tailrace/config';
import type { UrlAttempt } from '@tailrace/records';
import { createSender, describeExchange, targetsOf, type Sender, type Target } from '@tailrace/webhook';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { UsageError, type Outcome } from '../command.ts';
import { headersOf } from '../configuration/destination-options.ts';
import { coloured } from '../terminal/coloured.ts';
import { printable } from '../terminal/table.ts';
import { answerLine } from './delivery-text.ts';
import { follow, type Open } from './tail.ts';

type Copy = Schema['DeliveryCopy'];
type Forwarded = Omit<Copy, 'method' | 'headers' | 'body'> & UrlAttempt & { readonly startedAt: string };

interface Values {
  readonly destination: string;
  readonly forward: string;
  readonly header?: readonly string[];
  readonly event?: string;
  readonly user?: string;
  readonly count?: number;
}

const mostInFlight = 10;
/** Longer than a receiver has, for a server that is being debugged. */
const timeoutMs = 30_000;
const keep = { bodyBytes: 1_024, which: 'all' } as const;

export async function listen(
  { destination: id, forward, header = [], event, user: userId, count }: Values,
  context: ApiContext,
): Promise<Outcome> {
  const target = targetOf(forward, headersOf({ header }, context).headers);
  const { api, terminal, show, warn } = context;
  const destination = await api.get<Schema['Destination']>(pathOf('destinations', id));
  const most = destination.ordering === 'user' ? 1 : mostInFlight;
  const signal = terminal.interruption();
  const sender = createSender({ timeoutMs, policy: { allows: () => true } });
  // What is in flight fails then.
  signal.addEventListener('abort', () => void sender.close(), { once: true });

  let hasBegun = false;
  const open: Open<Copy> = (until, onOpen) =>
    api.follow(pathOf('destinations', id, 'copies', 'stream'), { event, userId }, until, () => {
      onOpen();
      if (!hasBegun) for (const sentence of beginning(destination, target)) warn(sentence);
      hasBegun = true;
    });

  let isRefused = false;
  const showAnswer = (forwarded: Forwarded): void => {
    if (signal.aborted) return;
    show([lineOf(forwarded)], forwarded);
    if (forwarded.reason !== 'connection-refused') isRefused = false;
    else if (!isRefused) {
      isRefused = true;
      warn(`Nothing listens at ${target.origin}. Start your server there, or change --forward.`);
    }
  };
  /** Settles when the answers of all deliveries so far are shown, in their order. */
  let shown = Promise.resolve();
  const unanswered: Promise<void>[] = [];
  const take = async (copy: Copy): Promise<void> => {
    const before = shown;
    shown = forwardTo(target, copy, sender).then((forwarded) => before.then(() => showAnswer(forwarded)));
    unanswered.push(shown);
    // Nothing is read meanwhile: what the service then cannot send it counts.
    if (unanswered.length >= most) await unanswered.shift();
  };
  try {
    const options = { count, noun: 'delivery', missed: 'forwarded', signal };
    const outcome = await follow(open, take, options, context);
    await shown;
    return outcome;
  } finally {
    await sender.close();
  }
}

/** @throws UsageError */
function targetOf(forward: string, headers: Readonly<Record<string, string>> = {}): Target {
  const url = URL.parse(forward);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError('--forward must be a URL with http or https, such as http://localhost:3000/hook');
  }
  const [target] = targetsOf({
    settings: { webhooks: [{ url: url.href, headers }] },
  } as unknown as Destination);
  if (!target) throw new Error('it has a URL');
  return target;
}

function beginning({ id, enabled, sources }: Schema['Destination'], { shownUrl }: Target): readonly string[] {
  return [
    `Forwarding the deliveries of ${id} to ${shownUrl}. Press Ctrl-C to end.`,
    ...(enabled
      ? []
      : [`The destination ${id} is disabled and gets none: tailrace enable destination ${id}`]),
    ...(sources.length > 0 ? [] : [`No source is connected to it: tailrace connect ${id} <source>`]),
  ];
}

async function forwardTo(target: Target, copy: Copy, sender: Sender): Promise<Forwarded> {
  const { method, headers: signed, body, ...delivery } = copy;
  const headers = [...Object.entries(signed).flat(), ...target.headers];
  const startedAt = new Date().toISOString();
  const since = performance.now();
  const answer = await sender.send({
    ...target,
    destinationId: 'listen',
    method: method as Target['method'],
    headers,
    body: Buffer.from(body),
    keep,
  });
  const latencyMs = Math.round(performance.now() - since);
  await answer.exchange?.ended;
  const exchange =
    answer.exchange && describeExchange(answer.exchange, { target, requestHeaders: headers, latencyMs });
  const { status, reason, detail } = { reason: undefined, detail: undefined, ...answer };
  return { ...delivery, url: target.shownUrl, startedAt, latencyMs, status, reason, detail, exchange };
}

function lineOf({ startedAt, type, event, userKey, latencyMs, ...answer }: Forwarded): string {
  const isAccepted = answer.reason === undefined;
  return [
    coloured('dim', startedAt),
    coloured(isAccepted ? 'green' : 'red', printable(answerLine(answer))),
    printable([type, event].filter(Boolean).join(' ')),
    printable(userKey),
    coloured('dim', `${latencyMs} ms`),
  ].join('  ');
}
