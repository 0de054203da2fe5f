/** `tailrace why`: explains in sentences what happened to an event, and what to do. */
import { openApi, pathOf } from '../api/client.ts';
import { exitCodes, type Run } from '../command.ts';
import { countOf, formatCount, printable } from '../terminal/table.ts';
import { periodOf } from '../terminal/times.ts';
import { answerOf } from './attempt-line.ts';
import type { Delivery, DeliveryHistory } from './deliveries.ts';

export interface EventStory {
  readonly eventId: string;
  readonly outcome: 'routed' | 'rejected' | 'filtered' | 'no-destination' | 'not-routed' | 'unknown';
  readonly explanation: string;
  readonly deliveries: readonly Delivery[];
  readonly rejections: readonly {
    readonly code: string;
    readonly message: string;
    readonly rejectedAt: string;
  }[];
  readonly accepted?: { readonly acceptedAt: string; readonly sourceId?: string };
  readonly searched?: { readonly since: string; readonly complete: boolean };
  /** Records that the history of the control service has not read yet. */
  readonly behind: number;
}

interface Values {
  readonly eventId: string;
  readonly since?: string;
}

export const why: Run<Values> = async ({ eventId, since }, context) => {
  const api = openApi(context);
  const story = await api.get<EventStory>(pathOf('events', eventId), { since: periodOf({ since }).since });
  const deliveries = await Promise.all(
    story.deliveries.map(({ deliveryId }) => api.get<DeliveryHistory>(pathOf('deliveries', deliveryId))),
  );
  return {
    exitCode: exitCodes.done,
    text: explain(story, deliveries).map(printable),
    json: { ...story, deliveries },
  };
};

function explain(story: EventStory, deliveries: readonly DeliveryHistory[]): string[] {
  const { outcome, explanation, rejections, accepted, searched, behind } = story;
  return [
    ...(accepted
      ? [
          `Accepted at ${accepted.acceptedAt}${accepted.sourceId === undefined ? '' : ` from ${accepted.sourceId}`}.`,
        ]
      : []),
    explanation,
    ...deliveries.flatMap((delivery) => explainDelivery(delivery)),
    ...rejections.map(({ code, rejectedAt }) => `Rejected at ${rejectedAt}, as ${code}.`),
    ...advise(outcomeAdvice[outcome]),
    ...(outcome === 'unknown' && searched
      ? [
          searched.complete
            ? `All events since ${searched.since} were searched; use --since to search earlier ones.`
            : `The search timed out before all events since ${searched.since} were read; use a later --since.`,
        ]
      : []),
    ...(behind > 0
      ? [`The history is ${countOf(behind, 'record')} behind: run the command again soon.`]
      : []),
  ];
}

const outcomeAdvice: Readonly<Partial<Record<EventStory['outcome'], string>>> = {
  rejected: 'fix the sender, and send the event again',
  filtered: 'unblock the event (tailrace unblock), or change the integrations of the call',
  'no-destination': 'connect a destination (tailrace connect) and enable it (tailrace enable destination)',
  'not-routed': 'check with tailrace doctor whether the router is running, and its backlog',
};

function explainDelivery(delivery: DeliveryHistory): string[] {
  const { destinationId, status, attempts, changedAt, reason, nextDueAt, history } = delivery;
  const last = history.at(-1);
  const responses = last?.urls.map((url) => `${answerOf(url)} from ${url.url}`).join(', ');
  const lastResponse = responses === undefined || responses === '' ? '' : ` Last response: ${responses}.`;
  const at = changedAt === undefined ? '' : ` at ${changedAt}`;
  switch (status) {
    case 'delivered':
      return [`${destinationId}: delivered${at}, with attempt ${formatCount(attempts)}.`];
    case 'waiting':
      return [
        `${destinationId}: waits for its first attempt.`,
        ...advise('check with tailrace doctor whether delivery is running, and its backlog'),
      ];
    case 'retrying':
      return [
        `${destinationId}: ${countOf(attempts, 'attempt')} failed${nextDueAt === undefined ? '' : `; the next is due at ${nextDueAt}`}.${lastResponse}`,
        ...advise(fixes[reason ?? ''] ?? 'nothing, if the receiver recovers in time'),
      ];
    case 'dead':
      return [
        `${destinationId}: failed permanently${at} after ${countOf(attempts, 'attempt')}, ${reason ?? 'unknown'}.${lastResponse}`,
        ...advise(
          `${fixes[reason ?? ''] ?? 'fix the receiver'}, then tailrace replay --destination ${destinationId}`,
        ),
      ];
  }
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
  'dns-failure': 'correct the host in the URL, or its DNS',
  'too-many-requests': 'set a rateLimit that the receiver accepts',
  'destination-disabled': 'enable it (tailrace enable destination)',
};

function advise(advice: string | undefined): string[] {
  return advice === undefined ? [] : [`  To do: ${advice}.`];
}
