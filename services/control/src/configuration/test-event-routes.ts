/** The test event: a sample is sent now, exactly as a delivery would be, and nothing of it is kept. */
import { randomUUID } from 'node:crypto';
import { secretMask, type Destination } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { eventTypes } from '@tailrace/events';
import {
  createAddressPolicy,
  createSender,
  requestHeaders,
  targetsOf,
  type Sender,
  type Target,
} from '@tailrace/webhook';
import Type from 'typebox';
import { nothingThere } from './entries.ts';
import type { Routes } from '../http/routes.ts';
import { sampleBody } from './sample.ts';

const shownBodyBytes = 4 * 1024;

const sentSchema = Type.Object({
  request: Type.Object({
    url: Type.String(),
    headers: Type.Record(Type.String(), Type.String(), { description: 'secret values are masked' }),
    body: Type.String(),
  }),
  response: Type.Object(
    {
      status: Type.Optional(Type.Integer()),
      headers: Type.Optional(Type.Record(Type.String(), Type.String())),
      body: Type.Optional(Type.String({ description: 'its first 4 KB' })),
      latencyMs: Type.Integer({ description: 'until the answer, or until there was none' }),
      reason: Type.Optional(Type.String({ description: 'what a delivery would have failed with' })),
      detail: Type.Optional(Type.String()),
    },
    { description: 'what came back; no status where nothing did' },
  ),
});

const asked = Type.Union([
  Type.Object(
    {
      type: Type.Optional(
        Type.Enum(eventTypes as unknown as [string], { description: `one of ${eventTypes.join(', ')}` }),
      ),
      webhook: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 4,
          description: 'the place of a URL, from 0; all where left out',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  Type.Null(),
]);

export const testEventRoutes: Routes = (app, deps) => {
  const { config, settings } = deps;
  const sender = createSender({
    timeoutMs: settings.timeoutMs,
    policy: createAddressPolicy(settings.allowedNetworks),
  });
  app.addHook('onClose', () => sender.close());

  app.post(
    '/destinations/:id/test',
    {
      schema: {
        operationId: 'testDestination',
        summary: 'Sends a sample to the URLs of a destination now, enabled or not, and shows what came of it',
        tags: ['Destinations'],
        params: Type.Object({ id: Type.String() }),
        body: asked,
        response: { 200: Type.Object({ items: Type.Array(sentSchema) }) },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { type = 'track', webhook } = (request.body as typeof request.body | undefined) ?? {};
      deps.audit(request, { action: 'destination.test', target: `destination/${id}` });
      const destination = config.destination(id);
      if (!destination) throw nothingThere({ kind: 'destination', id });
      const targets = targetsOf(destination);
      const chosen = webhook === undefined ? targets : targets.slice(webhook, webhook + 1);
      if (chosen.length === 0) {
        const problem = {
          field: 'webhook',
          rule: `is not one of the ${targets.length} URLs, counted from 0`,
        };
        throw new TailraceError('invalid-request', `${problem.field} ${problem.rule}.`, {
          problems: [problem],
        });
      }
      const body = sampleBody(eventTypes.find((one) => one === type) ?? 'track');
      return {
        items: await Promise.all(chosen.map((target) => sendSample(sender, destination, target, body))),
      };
    },
  );
};

async function sendSample(sender: Sender, destination: Destination, target: Target, body: Buffer) {
  const startedAt = Date.now();
  const stamp = { deliveryId: `test-${randomUUID()}`, startedAt };
  const headers = requestHeaders(destination, target, body, stamp);
  const response: { status?: number; headers?: Record<string, string> } = {};
  const chunks: Buffer[] = [];
  const over = Promise.withResolvers<undefined>();
  const answer = await sender.send({
    ...{ destinationId: destination.id, origin: target.origin, path: target.path, tls: target.tls },
    ...{ headers, body },
    watch: {
      onHead(status, received) {
        response.status = status;
        response.headers = Object.fromEntries(
          Object.entries(received).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
        );
      },
      onData: (chunk) => chunks.push(chunk),
      onEnd: () => {
        over.resolve(undefined);
      },
    },
  });
  const latencyMs = Date.now() - startedAt;
  await over.promise;
  const shown = Buffer.concat(chunks).subarray(0, shownBodyBytes).toString();
  const secret = secretHeaderNames(destination, target);
  return {
    request: {
      url: `${target.origin}${target.path}`,
      headers: Object.fromEntries(
        pairs(headers).map(([name, value]) => [name, secret.has(name.toLowerCase()) ? secretMask : value]),
      ),
      body: body.toString(),
    },
    response: {
      ...response,
      ...(response.status !== undefined && { body: shown }),
      latencyMs,
      ...(answer.kind !== 'success' && {
        reason: answer.reason,
        ...(answer.detail !== undefined && { detail: answer.detail }),
      }),
    },
  };
}

function secretHeaderNames(destination: Destination, target: Target): ReadonlySet<string> {
  const webhook = destination.settings.webhooks[targetsOf(destination).indexOf(target)];
  return new Set(webhook?.secretHeaders?.map((name) => name.toLowerCase()));
}

function pairs(headers: readonly string[]): [name: string, value: string][] {
  return headers.flatMap((name, index) =>
    index % 2 === 0 ? [[name, headers[index + 1] ?? ''] as [string, string]] : [],
  );
}
