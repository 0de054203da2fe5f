/** The route that tries a filter on a sample call. Nothing is sent or stored. */
import { checkDestination, filterSchema, type ConfigView, type Destination } from '@tailrace/config';
import { eventTypes } from '@tailrace/events';
import { bodyFor, compileFilter, filterableOf } from '@tailrace/routing';
import Type from 'typebox';
import { orNothing, withoutDefaults, type JsonSchema } from '../../document/json-schema.ts';
import { audit } from '../../http/audit.ts';
import { bodyOnly, named } from '../../http/schemas.ts';
import { routesOf, type Api } from '../../http/api.ts';
import { loadDestination } from './destination.ts';
import { requireValid } from '../entry/change.ts';
import { fieldsOf, triedEvent } from './tried-call.ts';

const testedSchema = Type.Object({
  passes: Type.Boolean({ description: 'whether the destination would get the call' }),
  rule: Type.Optional(
    Type.Object(
      {
        path: Type.String({ description: 'its path in the filter, for example condition.all[1]' }),
        text: Type.String({ description: 'the rule in words' }),
      },
      { description: 'the first rule that the call does not meet' },
    ),
  ),
  body: Type.String({
    description: 'the webhook body; conditions apply to it as it is before `fields` of the destination',
  }),
});

const body = bodyOnly(
  orNothing({
    title: 'FilterTest',
    type: 'object',
    properties: {
      filter: {
        ...withoutDefaults(filterSchema as unknown as JsonSchema),
        description: 'the filter to try; by default that of the destination',
      },
      call: {
        type: 'object',
        additionalProperties: true,
        description: 'a tracking call with its type; by default a sample',
      },
      type: {
        enum: [...eventTypes],
        description: 'the type of the sample (default: track)',
      },
    },
    additionalProperties: false,
    description: 'all fields are optional',
    examples: [
      {
        filter: { condition: { field: 'properties.total', atLeast: 100 } },
        call: { type: 'track', userId: 'ada', event: 'Order Completed', properties: { total: 25.5 } },
      },
    ],
  }),
);

const known = ['filter', 'call', 'type'];

export function filterTestRoutes(app: Api, config: Pick<ConfigView, 'destination'>): void {
  const route = routesOf(app, 'Destinations');
  route.post('/destinations/:id/filter/test', {
    operationId: 'testFilter',
    summary: 'Try a filter on a call',
    description:
      'Says whether the destination would get the call, and otherwise by which rule it would not. Nothing is sent or stored. ' +
      'Integrations of the call, blocked events and the sample of the destination are not considered.',
    body,
    response: { 200: named('FilterTestResult', testedSchema) },
    errors: ['invalid-configuration'],
    exactNumbers: true,
    handler: (request) => {
      const { id } = request.params;
      audit(request, 'destination.test-filter', `destination/${id}`);
      const given = fieldsOf(request.body, known);
      const destination = loadDestination(config, id);
      const filter = filterOf(destination, given['filter']);
      // The router compares the digits that were sent.
      const event = triedEvent({ ...given, ...fieldsOf(request.exactBody, known) });
      // As in routing, a delete passes every filter.
      const tested = event.type !== 'delete' && filter ? compileFilter(filter) : undefined;
      const rule = tested?.(filterableOf(event));
      return { passes: rule === undefined, ...(rule && { rule }), body: bodyFor(event, destination) };
    },
  });
}

/** @throws TailraceError `invalid-configuration` */
function filterOf(destination: Destination, given: unknown): Destination['filter'] {
  if (given === undefined || given === null) return destination.filter;
  return requireValid(checkDestination({ ...destination, filter: given }), () => []).filter;
}
