/** The OpenAPI document that ingest serves: valid, and true of what ingest does. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { openStage } from '../../services/ingest/src/testing/stage.ts';
import { call, sendTo } from '../support/processes/ingest.ts';

interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Reference }>> };
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema?: Reference }>> }>
  >;
}
interface Reference {
  readonly $ref: string;
}
interface OpenApi extends Readonly<Record<string, unknown>> {
  readonly paths: Readonly<Record<string, Readonly<Record<'get' | 'post', Operation | undefined>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const { url } = opened.use(await openStage());
const served = await fetch(`${url}/openapi.json`);
const document = (await served.json()) as OpenApi;

const ajv = new Ajv2020({ strict: false });
ajv.addSchema(document, 'document');
/** Validates `value` against the schema at `reference`, and lists the problems. */
function check({ $ref }: Reference, value: unknown): { readonly valid: boolean; readonly problems: string } {
  const valid = ajv.validate({ $ref: `document${$ref}` }, value);
  return { valid, problems: ajv.errorsText() };
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

test('it is valid OpenAPI 3.1, and any page may read it', async () => {
  assert.equal(served.headers.get('content-type'), 'application/json');
  assert.equal(served.headers.get('access-control-allow-origin'), '*');
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document));
  assert.ok(valid, JSON.stringify(errors));
  assert.equal(validator.version, '3.1');
});

test('every path in it is served, with an answer that it describes', async () => {
  assert.equal(operations.length, 6 * 4 + 3 + 3);
  for (const { path, method, operation } of operations) {
    const answer = await sendTo({
      url,
      path: path.replace('{writeKey}', 'wk_unknown'),
      method,
      key: 'wk_unknown',
      ...(method === 'POST' && { body: {} }),
    });
    assert.notEqual(answer.status, 404, path);
    const described = operation?.responses[answer.status];
    assert.ok(described, `${method} ${path} answers ${answer.status}`);
    const schema = described.content['application/json']?.schema;
    if (schema && '$ref' in schema) {
      const { valid, problems } = check(schema, answer.json);
      assert.ok(valid, problems);
    }
  }
});

test('the schemas accept exactly the calls that ingest accepts', async () => {
  const calls = {
    '/v1/track': [call(), call({ event: null }), call({ userId: 42, context: [] }), call({ traits: 'x' })],
    '/v1/alias': [call({ previousId: 'a-1' }), call()],
    '/v1/batch': [
      { batch: [call(), call({ type: 'page' })] },
      { batch: null },
      { batch: {} },
      { batch: [{ userId: 'ada' }] },
      {},
    ],
  };
  for (const [path, bodies] of Object.entries(calls)) {
    const schema = document.paths[path]?.post?.requestBody?.content['application/json']?.schema;
    assert.ok(schema);
    const outcomes = new Set<boolean>();
    for (const body of bodies) {
      const { status } = await sendTo({ url, path, body });
      const { valid, problems } = check(schema, body);
      assert.equal(status === 200, valid, `${path} ${JSON.stringify(body)}: ${status}, ${problems}`);
      outcomes.add(valid);
    }
    assert.equal(outcomes.size, 2, 'some are good and some are not');
  }
});
