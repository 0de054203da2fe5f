/** `tailrace why`: explains in sentences what happened to an event, and what to do. */
import type { Schema } from '@tailrace/api';
import { isTailraceError } from '@tailrace/errors';
import { parseDuration } from '@tailrace/events';
import { openApi, type Api } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { UsageError, type Run } from '../command.ts';
import { inParallel } from '../in-parallel.ts';
import { countOf, formatCount, printable } from '../terminal/table.ts';
import { periodOf, timeOf } from '../terminal/times.ts';
import { answerFrom } from './delivery-text.ts';
import type { Period } from './search/read-topic.ts';

interface Values {
  readonly eventId: string;
  readonly since?: string;
  readonly around?: string;
  readonly within?: string;
  readonly user?: string;
  readonly allPartitions?: boolean;
}

const defaultWithin = '10m';

export const why: Run<Values> = async (
  { eventId, since, around, within, user, allPartitions = false },
  context,
) => {
  if (around !== undefined) {
    if (since !== undefined) throw new UsageError('--since and --around exclude each other');
    const period = periodAround(around, within ?? defaultWithin, Date.now());
    const { searchKafka } = await import('./search/why.ts');
    return searchKafka({ eventId, period, user, allPartitions }, context);
  }
  if (within !== undefined || user !== undefined || allPartitions) {
    throw new UsageError('--user, --within and --all-partitions require --around');
  }
  const api = openApi(context);
  const story = await api.get<Schema['EventTrace']>(pathOf('events', eventId), {
    since: periodOf({ since }).since,
  });
  const deliveries = await inParallel(8, story.deliveries, ({ deliveryId, reason }) =>
    load(api, deliveryId, reason === 'transform-failed'),
  );
  return {
    text: explain(story, deliveries).map(printable),
    json: { ...story, deliveries },
  };
};

type Delivery = Schema['DeliveryWithAttempts'] & {
  /** Why its transform failed. */
  readonly failure?: string;
};

async function load(api: Api, deliveryId: string, hasFailedTransform: boolean): Promise<Delivery> {
  const delivery = await api.get<Schema['DeliveryWithAttempts']>(pathOf('deliveries', deliveryId));
  const failure = hasFailedTransform ? await failureOf(api, deliveryId) : undefined;
  return typeof failure === 'string' ? { ...delivery, failure } : delivery;
}

interface Letters {
  readonly items: readonly { readonly lastAnswer?: unknown }[];
}

/** Undefined where the dead letter has expired. */
async function failureOf(api: Api, deliveryId: string): Promise<unknown> {
  try {
    return (await api.get<Letters>(pathOf('dead-letters', deliveryId))).items.at(-1)?.lastAnswer;
  } catch (error) {
    if (isTailraceError(error, 'not-found')) return undefined;
    throw error;
  }
}

/** @throws UsageError */
function periodAround(around: string, within: string, now: number): Period {
  const center = timeOf('around', around, now);
  const withinMs = parseDuration(within);
  if (withinMs === undefined || withinMs === 0) {
    throw new UsageError(`--within must be a duration such as 10m or 5h, not ${within}`);
  }
  if (center === undefined || center - withinMs >= now) throw new UsageError('--around is in the future');
  return { from: center - withinMs, until: Math.min(center + withinMs, now) };
}

function explain(story: Schema['EventTrace'], deliveries: readonly Delivery[]): string[] {
  const { outcome, explanation, rejections, accepted, searched, behind } = story;
  return [
    ...(accepted
      ? [
          `Accepted at ${accepted.acceptedAt}${accepted.sourceId === undefined ? '' : ` from ${accepted.sourceId}`}.`,
        ]
      : []),
    explanation,
    ...filteredAdvice(story),
    ...deliveries.flatMap((delivery) => explainDelivery(delivery)),
    ...rejections.map(({ code, rejectedAt }) => `Rejected at ${rejectedAt}, as ${code}.`),
    ...advise(outcomeAdvice[outcome]),
    ...(outcome === 'unknown' && searched
      ? [
          searched.complete
            ? `All events since ${searched.since} were searched; use --since to search earlier ones.`
            : `The search timed out before all events since ${searched.since} were read; use a later --since.`,
          ...advise('search all topics around a time: tailrace why <id> --around <time> --user <user>'),
        ]
      : []),
    ...(behind > 0
      ? [`The history is ${countOf(behind, 'record')} behind: run the command again soon.`]
      : []),
  ];
}

const outcomeAdvice: Readonly<Partial<Record<Schema['EventTrace']['outcome'], string>>> = {
  rejected: 'fix the sender, and send the event again',
  'no-destination': 'connect a destination (tailrace connect) and enable it (tailrace enable destination)',
  'not-searched': 'run the command again soon, or with a later --since',
  'not-recorded': 'search all topics around its time: tailrace why <id> --around <time> --user <user>',
  'not-routed': 'check with tailrace doctor whether the router is running, and its backlog',
};

/** For destinations that did not get it, by reason. */
const reasonAdvice: Readonly<Record<string, string>> = {
  disabled:
    'enable the destination for later events (tailrace enable destination); it does not get this one, so send it again under another messageId',
  integrations: 'change the integrations of the call',
  schema: 'unblock the event (tailrace unblock)',
  filter: 'change the filter of the destination; tailrace test --filter tries it',
  sample: 'raise percent of the sample of the destination; the same users stay in it',
  transform:
    'change the transform of the destination; tailrace test --transform --event runs it on the event',
};

function filteredAdvice({ decisions }: Schema['EventTrace']): string[] {
  const reasons = new Set(decisions.flatMap(({ filtered }) => filtered.map(({ reason }) => reason)));
  return [...reasons].flatMap((reason) => advise(reasonAdvice[reason]));
}

function explainDelivery(delivery: Delivery): string[] {
  const { destinationId, status, attempts, changedAt, reason, nextDueAt, history, failure } = delivery;
  const to = `${destinationId}${sentAgain(delivery)}`;
  const last = history.at(-1);
  const responses = last?.urls.map(answerFrom).join(', ');
  const lastResponse = responses === undefined || responses === '' ? '' : ` Last response: ${responses}.`;
  if (reason === 'paused' && (status === 'waiting' || status === 'retrying')) {
    const before = attempts > 0 ? `after ${countOf(attempts, 'attempt')}, it` : 'it';
    return [
      `${to}: ${before} waits because the destination is paused, or was until recently.${lastResponse}`,
      ...advise(
        `resume it (tailrace resume destination ${destinationId}); nothing is lost while it is paused`,
      ),
    ];
  }
  const at = changedAt === undefined ? '' : ` at ${changedAt}`;
  switch (status) {
    case 'delivered':
      return [`${to}: delivered${at}, with attempt ${formatCount(attempts)}.`];
    case 'waiting':
      return [
        `${to}: waits for its first attempt.`,
        ...advise('check with tailrace doctor whether delivery is running, and its backlog'),
      ];
    case 'retrying':
      return [
        `${to}: ${countOf(attempts, 'attempt')} failed${nextDueAt === undefined ? '' : `; the next is due at ${nextDueAt}`}.${lastResponse}`,
        ...advise(fixes[reason ?? ''] ?? 'nothing, if the receiver recovers in time'),
      ];
    case 'dead':
      return [
        `${to}: failed permanently${at} after ${countOf(attempts, 'attempt')}, ${reason ?? 'unknown'}.${lastResponse}`,
        ...(failure === undefined ? [] : [`  ${failure}.`]),
        ...advise(
          `${fixes[reason ?? ''] ?? 'fix the receiver'}, then tailrace replay --destination ${destinationId}`,
        ),
      ];
    case 'unknown':
      return [
        `${to}: sent or given up; the record of its last attempt was lost.${lastResponse}`,
        ...advise(`if the receiver does not have it: tailrace resend ${delivery.deliveryId}`),
      ];
  }
}

/** Tells a replay from the first delivery. A control service of the release before does not say it. */
function sentAgain({ resends = [] }: Partial<Schema['DeliveryWithAttempts']>): string {
  const last = resends.at(-1);
  return last ? `, sent again at ${last.at}${last.by === undefined ? '' : ` by ${last.by}`}` : '';
}

/** How to fix a failure, by its reason. */
const fixes: Readonly<Record<string, string>> = {
  'client-error': 'find out why the receiver refuses the request (tailrace test sends a sample)',
  redirect: 'set the URL to the target of the redirect; redirects are not followed',
  'address-not-allowed': 'use a public address, or allow this address with TAILRACE_ALLOW_PRIVATE_NETWORKS',
  'self-signed-certificate':
    'give the receiver a certificate of a known authority, or set its authority in tls.ca',
  'untrusted-certificate':
    'give the receiver a certificate of a known authority, or set its authority in tls.ca',
  'misnamed-certificate': 'give the receiver a certificate for the host name in the URL',
  'certificate-expired': 'renew the certificate of the receiver',
  'token-unavailable':
    'correct settings.oauth2 of the destination, or repair the token server (tailrace test shows its answer)',
  'dns-failure': 'correct the host in the URL, or its DNS',
  'too-many-requests': 'set a rateLimit that the receiver accepts',
  'proxy-refused': 'find out in the log of the egress proxy why it opens no connection to the receiver',
  'proxy-unauthorized':
    'correct the credentials for the egress proxy (TAILRACE_EGRESS_PROXY_CREDENTIALS_FILE)',
  'proxy-unreachable': 'repair the egress proxy (TAILRACE_EGRESS_PROXY), or the way to it',
  'destination-disabled': 'enable it (tailrace enable destination)',
  'transform-failed': 'fix its transform (tailrace test --transform --event runs it on the event)',
};

function advise(advice: string | undefined): string[] {
  return advice === undefined ? [] : [`  To do: ${advice}.`];
}
