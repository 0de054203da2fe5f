/** The route that sends a test event to a destination immediately, as a delivery would be sent. Nothing is stored. */
import { randomUUID } from 'node:crypto';
import type { ConfigView, Destination } from '@tailrace/config';
import { eventTypes, type TailraceEvent } from '@tailrace/events';
import { exchangeSchema } from '@tailrace/records';
import { bodyFor, encodeBody } from '@tailrace/routing';
import { checkedResult, failureText, hasTransform, type Transforms } from '@tailrace/transform';
import {
  createSender,
  describeExchange,
  requestHeaders,
  targetsOf,
  type Sender,
  type SenderOptions,
  type Target,
} from '@tailrace/webhook';
import Type from 'typebox';
import { Places } from '../../access/places.ts';
import { audit } from '../../http/audit.ts';
import { invalidField } from '../../http/errors.ts';
import { closedObject, named, optionalText } from '../../http/schemas.ts';
import { routesOf, type Api } from '../../http/api.ts';
import { loadDestination } from './destination.ts';
import { triedEvent } from './tried-call.ts';

const shownBodyBytes = 4 * 1024;
const { address, proxy, dnsMs, connectMs, tlsMs, answerMs, omitted } = exchangeSchema.properties;

const sentSchema = Type.Object({
  request: Type.Object({
    url: Type.String(),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'the values of the headers of the configuration are masked',
    }),
    body: Type.String(),
  }),
  response: Type.Object(
    {
      status: Type.Optional(Type.Integer()),
      headers: Type.Optional(Type.Record(Type.String(), Type.String())),
      body: optionalText('the first 4 KB'),
      omitted,
      address,
      proxy,
      dnsMs,
      connectMs,
      tlsMs,
      answerMs,
      latencyMs: Type.Integer({ description: 'until the response, or until the request failed' }),
      reason: optionalText('why a delivery would have failed'),
      detail: Type.Optional(Type.String()),
    },
    { description: 'without `status` where there was no response' },
  ),
});

const bodySchema = Type.Union([
  closedObject({
    call: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: 'a tracking call with its type (default: a sample)',
          examples: [{ type: 'track', userId: 'ada', event: 'Order Completed', properties: { total: 25.5 } }],
        },
      ),
    ),
    type: Type.Optional(
      Type.Enum(eventTypes as unknown as [string], {
        description: `one of ${eventTypes.join(', ')}: the type of the sample (default: track)`,
      }),
    ),
    webhook: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 4,
        description: 'the index of a URL, from 0; by default all URLs',
      }),
    ),
  }),
  Type.Null(),
]);

export interface TestEventNeeds {
  readonly config: Pick<ConfigView, 'destination'>;
  readonly transforms: Pick<Transforms, 'run'>;
  /** As delivery has them. */
  readonly sending: SenderOptions;
}

export function testEventRoutes(app: Api, { config, transforms, sending }: TestEventNeeds): void {
  const route = routesOf(app, 'Destinations');
  const sender = createSender(sending);
  app.addHook('onClose', () => sender.close());
  const places = new Places('testEvents');

  route.post('/destinations/:id/test', {
    operationId: 'testDestination',
    summary: 'Send a test event to a destination',
    description:
      'The event is sent immediately, also to a disabled destination. The answer shows request and response. ' +
      'The filter and the sample of the destination are not considered.',
    body: bodySchema,
    exactNumbers: true,
    response: { 200: Type.Object({ items: Type.Array(named('TestResult', sentSchema)) }) },
    handler: async (request) => {
      const { id } = request.params;
      const { webhook } = (request.body as typeof request.body | undefined) ?? {};
      audit(request, 'destination.test', `destination/${id}`);
      const destination = loadDestination(config, id);
      // As the router would build it: from the digits that were sent.
      const event = triedEvent((request.exactBody ?? {}) as Readonly<Record<string, unknown>>);
      using _place = places.take(request.caller, id);
      const made = await madeBy(transforms, event, destination);
      const targets = chosenTargets(destination, webhook ?? made.url);
      return {
        items: await Promise.all(targets.map((target) => sendTest(sender, destination, target, made))),
      };
    },
  });
}

/** What the router would make of the event. */
interface Made {
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly url?: number | undefined;
}

/** @throws TailraceError `invalid-request` where the transform makes no body of it */
async function madeBy(
  transforms: Pick<Transforms, 'run'>,
  event: TailraceEvent,
  destination: Destination,
): Promise<Made> {
  const json = bodyFor(event, destination);
  const { settings } = destination;
  if (!hasTransform(destination)) return { body: encodeBody(json, settings) };
  const run = { owner: `test/${destination.id}`, code: destination.transform.code, event: json };
  const result = checkedResult(await transforms.run(run), destination);
  if (result.outcome === 'body') return { ...result, body: encodeBody(result.body, settings) };
  if (result.outcome === 'failed')
    throw invalidField('call', `fails in the transform: ${failureText(result.error)}`);
  if (event.type === 'delete') return { body: encodeBody(json, settings) };
  throw invalidField('call', 'is filtered: the transform of the destination returned null');
}

function chosenTargets(destination: Destination, webhook: number | undefined): readonly Target[] {
  const targets = targetsOf(destination);
  if (webhook === undefined) return targets;
  const target = targets[webhook];
  if (target) return [target];
  throw invalidField('webhook', `is not the index of one of the ${targets.length} URLs, from 0`);
}

async function sendTest(
  sender: Sender,
  destination: Destination,
  target: Target,
  { body, headers: added }: Made,
) {
  const startedAt = Date.now();
  const { contentType } = destination.settings;
  const stamp = { deliveryId: `test-${randomUUID()}`, startedAt, contentType, added };
  const headers = requestHeaders(destination, target, body, stamp);
  const request = { ...target, destinationId: destination.id, headers, body };
  const answer = await sender.send({ ...request, keep: { bodyBytes: shownBodyBytes, which: 'all' } });
  const latencyMs = Date.now() - startedAt;
  await answer.exchange?.ended;
  const shown =
    answer.exchange &&
    describeExchange(answer.exchange, {
      target,
      requestHeaders: headers,
      made: added,
      latencyMs,
      extent: 'all',
    });
  const { requestHeaders: sent = {}, responseHeaders: received, responseBody = '', ...rest } = shown ?? {};
  return {
    request: { url: `${target.origin}${target.path}`, headers: sent, body: body.toString() },
    response: {
      ...(answer.status !== undefined && { status: answer.status, body: responseBody }),
      ...(received && { headers: received }),
      ...rest,
      latencyMs,
      ...(answer.kind !== 'success' && {
        reason: answer.reason,
        ...(answer.detail !== undefined && { detail: answer.detail }),
      }),
    },
  };
}
