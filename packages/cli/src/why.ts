/** `tailrace why`: what happened to an event, in sentences, and what to do about it. */
import { formatInstant } from '@tailrace/events';
import { openApi, pathOf } from './api.ts';
import { answerOf } from './attempt-line.ts';
import { defineCommand, exitCodes } from './command.ts';
import type { Delivery, DeliveryHistory } from './get-history.ts';
import { countOf, formatCount, printable } from './table.ts';
import { aboutTimes, timeOf } from './times.ts';

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
  /** Records that the history has not read yet. */
  readonly behind: number;
}

export const why = defineCommand({
  name: 'why',
  summary: 'say what happened to an event',
  details: [
    'Where it came from, where it went, what the receivers answered, and what to do about it.',
    'An event without deliveries is looked for in the topics, among what came since --since, a day ago where it is left\n' +
      'out, which may take 20 seconds. The exit code is 0 whatever is found.',
    aboutTimes,
  ],
  examples: ['why 0b0f7c1e-6a54-4f0e-9d2c-3c1f0e8b7a55', 'why order-1042 --since 7d'],
  through: 'api',
  options: {
    event: {
      type: 'string',
      positional: true,
      required: true,
      placeholder: 'EVENT_ID',
      help: "the event's messageId",
    },
    since: { type: 'string', placeholder: 'TIME', help: 'look for what came at this time or later' },
  },
  async run({ event, since }, context) {
    const api = openApi(context);
    const time = timeOf('since', since);
    const query = { since: time === undefined ? undefined : formatInstant(time) };
    const story = await api.get<EventStory>(pathOf('events', event), query);
    const deliveries = await Promise.all(
      story.deliveries.map(({ deliveryId }) => api.get<DeliveryHistory>(pathOf('deliveries', deliveryId))),
    );
    return {
      exitCode: exitCodes.done,
      text: tell(story, deliveries).map(printable),
      json: { ...story, deliveries },
    };
  },
});

export function tell(story: EventStory, deliveries: readonly DeliveryHistory[]): string[] {
  const { outcome, explanation, rejections, accepted, searched, behind } = story;
  return [
    ...(accepted
      ? [
          `Accepted at ${accepted.acceptedAt}${accepted.sourceId === undefined ? '' : ` from ${accepted.sourceId}`}.`,
        ]
      : []),
    explanation,
    ...deliveries.flatMap((delivery) => tellDelivery(delivery)),
    ...rejections.map(({ code, rejectedAt }) => `Rejected at ${rejectedAt}, as ${code}.`),
    ...advise(advice[outcome]),
    ...(outcome === 'unknown' && searched
      ? [
          searched.complete
            ? `Everything since ${searched.since} was looked through; --since reaches further back.`
            : `The time was over before everything since ${searched.since} was read; ask for less with --since.`,
        ]
      : []),
    ...(behind > 0 ? [`The history is ${countOf(behind, 'record')} behind: ask again in a moment.`] : []),
  ];
}

const advice: Readonly<Partial<Record<EventStory['outcome'], string>>> = {
  rejected: 'correct what sends it, and send it again',
  filtered: 'unblock the event (tailrace unblock), or change the integrations of the call',
  'no-destination': 'connect one (tailrace connect) and switch it on (tailrace enable destination)',
  'not-routed': 'tailrace doctor says whether the router is running, and how far behind it is',
};

function tellDelivery(delivery: DeliveryHistory): string[] {
  const { destinationId, status, attempts, changedAt, reason, nextDueAt, history } = delivery;
  const last = history.at(-1);
  const answers = last?.urls.map((url) => `${answerOf(url)} from ${url.url}`).join(', ');
  const lastAnswer = answers === undefined || answers === '' ? '' : ` Last answer: ${answers}.`;
  const at = changedAt === undefined ? '' : ` at ${changedAt}`;
  switch (status) {
    case 'delivered':
      return [
        `${destinationId}: delivered${at}, ${attempts === 1 ? 'at once' : `with attempt ${formatCount(attempts)}`}.`,
      ];
    case 'waiting':
      return [
        `${destinationId}: waits for its first attempt.`,
        ...advise('tailrace doctor says whether delivery is running, and how far behind it is'),
      ];
    case 'retrying':
      return [
        `${destinationId}: ${countOf(attempts, 'attempt')} failed${nextDueAt === undefined ? '' : `; the next is due at ${nextDueAt}`}.${lastAnswer}`,
        ...advise(ofReason[reason ?? ''] ?? 'nothing, where the receiver recovers in time'),
      ];
    case 'dead':
      return [
        `${destinationId}: given up${at} after ${countOf(attempts, 'attempt')}, ${reason ?? 'unknown'}.${lastAnswer}`,
        ...advise(
          `${ofReason[reason ?? ''] ?? 'fix the receiver'}, then tailrace replay --destination ${destinationId}`,
        ),
      ];
  }
}

/** What fixes it, by why an attempt failed. */
const ofReason: Readonly<Record<string, string>> = {
  'client-error': 'see why the receiver refuses the request (tailrace test sends it a sample)',
  redirect: 'set the URL to where it redirects to; redirects are not followed',
  'address-not-allowed': 'use a public address, or allow this one with TAILRACE_ALLOW_PRIVATE_NETWORKS',
  'self-signed-certificate':
    'give the receiver a certificate of a known authority, or name its own in tls.ca',
  'untrusted-certificate': 'give the receiver a certificate of a known authority, or name its own in tls.ca',
  'misnamed-certificate': 'give the receiver a certificate for the name in the URL',
  'certificate-expired': 'renew the certificate of the receiver',
  'dns-failure': 'correct the host in the URL, or its DNS',
  'too-many-requests': 'set a rateLimit that the receiver can take',
  'destination-disabled': 'switch it on (tailrace enable destination)',
};

function advise(what: string | undefined): string[] {
  return what === undefined ? [] : [`  To do: ${what}.`];
}
