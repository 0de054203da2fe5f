/** The route that tries a transform on a call. Nothing is sent or stored. */
import type { ConfigView } from '@tailrace/config';
import { eventTypes } from '@tailrace/events';
import { bodyFor } from '@tailrace/routing';
import { checkedResult } from '@tailrace/transform';
import Type from 'typebox';
import { orNothing } from '../../document/json-schema.ts';
import { audit } from '../../http/audit.ts';
import { invalidField } from '../../http/errors.ts';
import { bodyOnly, named, optionalText } from '../../http/schemas.ts';
import { routesOf, type Api } from '../../http/api.ts';
import { loadDestination } from './destination.ts';
import type { TransformTrials } from './transform-trials.ts';
import { fieldsOf, triedEvent } from './tried-call.ts';

const testedSchema = Type.Object({
  input: Type.String({ description: 'what the function gets, as JSON: the body that `fields` has left' }),
  outcome: Type.Enum(['body', 'filtered', 'failed'], {
    description: 'whether it returned a body or null, or failed',
  }),
  body: optionalText('the body that it made, as JSON'),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'headers that it adds to the request' }),
  ),
  url: Type.Optional(Type.Integer({ description: 'the index of the only URL that the body is sent to' })),
  error: Type.Optional(
    Type.Object({
      message: Type.String(),
      line: Type.Optional(Type.Integer({ description: 'in the script, from 1' })),
    }),
  ),
  logs: Type.Array(Type.String(), { description: 'what it wrote to the console: up to 100 lines, 16 KB' }),
  cpuMs: Type.Number({ description: 'the CPU time that it took, in milliseconds' }),
});

const body = bodyOnly(
  orNothing({
    title: 'TransformTest',
    type: 'object',
    properties: {
      code: { type: 'string', description: 'the script to try; by default that of the destination' },
      call: {
        type: 'object',
        additionalProperties: true,
        description: 'a tracking call with its type; by default a sample',
      },
      type: { enum: [...eventTypes], description: 'the type of the sample (default: track)' },
    },
    additionalProperties: false,
    description: 'all fields are optional',
    examples: [
      {
        code: '(event) => ({ text: `${event.userId} did ${event.event}` })',
        call: { type: 'track', userId: 'ada', event: 'Order Completed', properties: { total: 25.5 } },
      },
    ],
  }),
);

const known = ['code', 'call', 'type'];
/** In characters; a longer script is refused when it is saved too. */
const mostCode = 32 * 1024;

export function transformTestRoutes(
  app: Api,
  config: Pick<ConfigView, 'destination'>,
  trials: TransformTrials,
): void {
  const route = routesOf(app, 'Destinations');
  route.post('/destinations/:id/transform/test', {
    operationId: 'testTransform',
    summary: 'Try a transform on a call',
    description:
      'Runs the function as the router would, and shows what it returns and what it writes to the console. Nothing is sent or stored. ' +
      'The filter and the sample of the destination are not considered.',
    body,
    response: { 200: named('TransformTestResult', testedSchema) },
    exactNumbers: true,
    handler: async (request) => {
      const { id } = request.params;
      audit(request, 'destination.test-transform', `destination/${id}`);
      const given = fieldsOf(request.body, known);
      const destination = loadDestination(config, id);
      const code = given['code'] ?? destination.transform?.code;
      if (typeof code !== 'string' || code === '') {
        throw invalidField('code', 'is not a script, and the destination has no transform');
      }
      if (code.length > mostCode) throw invalidField('code', `is longer than ${mostCode} characters`);
      const event = triedEvent({ ...given, ...fieldsOf(request.exactBody, known) });
      const input = bodyFor(event, destination);
      const result = await trials.run(request.caller, id, { code, event: input, keepLogs: true });
      return { input, ...checkedResult(result, destination) };
    },
  });
}
