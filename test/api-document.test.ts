/** Every answer of the API matches the OpenAPI document, and none is an internal error. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { adminToken, openApi, type ApiRequest } from '../services/control/src/testing/api.ts';

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, { content?: Record<string, { schema: object }> }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const control = await openApi();
const address = await control.listen();
after(() => control[Symbol.asyncDispose]());
const document = (await control.expect(200, { path: '/openapi.json', token: null })) as unknown as Document;

const url = 'https://crm.example.com/hook';
const good = { id: 'web', type: 'Webhooks', writeKeys: ['wk_web'], settings: { webhooks: [{ url }] } };
await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'web' } });
await control.expect(201, {
  method: 'POST',
  path: '/v1/destinations',
  body: {
    id: 'web',
    type: 'Webhooks',
    enabled: false,
    settings: { webhooks: [{ url: 'http://127.0.0.1:1/' }] },
  },
});

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);
const value = fc.oneof(
  fc.constantFrom('web', 'Webhooks', 'nothing', 'true', '1', '0', '-1', '2h', '"1"', '*'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
);
const body = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(good, {}, null, [], { settings: good.settings }),
  fc.dictionary(fc.constantFrom('id', 'name', 'type', 'enabled', 'settings', 'webhook'), fc.jsonValue()),
);

const request = fc.record({
  at: fc.constantFrom(...operations),
  values: fc.array(value, { minLength: 8, maxLength: 8 }),
  given: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  body: fc.option(body, { nil: undefined }),
});

/** The beginning of a stream, which has no end. */
async function begin(path: string, headers: Readonly<Record<string, string>>) {
  const response = await fetch(`${address}${path}`, {
    headers: { ...headers, authorization: `Bearer ${adminToken}` },
  });
  const isRefused = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  const text = isRefused ? await response.text() : '';
  if (!isRefused) await response.body?.cancel();
  const json: unknown = isRefused ? JSON.parse(text) : {};
  return { status: response.status, headers: response.headers, text, json };
}

test('the document is OpenAPI 3.1, and every operation has a unique name', async () => {
  const result = await new Validator().validate(document as unknown as Record<string, unknown>);
  assert.deepEqual(result.errors, undefined);
  const names = operations.map(({ operation }) => (operation as { operationId?: string }).operationId);
  assert.equal(new Set(names).size, names.length);
});

test('every request gets a documented answer in the documented form', async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'document');
  await fc.assert(
    fc.asyncProperty(request, async ({ at: { path, method, operation }, values, given, body }) => {
      let filled = path;
      const query = new URLSearchParams();
      const headers: Record<string, string> = {};
      for (const [index, parameter] of (operation.parameters ?? []).entries()) {
        const text = values[index] ?? 'x';
        if (parameter.in === 'path') filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(text));
        else if (!given[index]) continue;
        else if (parameter.in === 'query') query.set(parameter.name, text);
        else headers[parameter.name] = encodeURIComponent(text);
      }
      // "." and ".." are path segments even when encoded.
      fc.pre(!filled.split('/').some((step) => step === '.' || step === '..'));
      const asked = `${filled}?${query.toString()}`;
      const answer = path.endsWith('/stream')
        ? await begin(asked, headers)
        : await control.ask({
            method: method.toUpperCase() as NonNullable<ApiRequest['method']>,
            path: asked,
            headers,
            ...(body !== undefined && method !== 'get' && { body }),
          });
      const shown = `${method} ${filled} ${JSON.stringify(body)}: ${answer.status} ${answer.text}`;
      assert.notEqual(answer.status, 500, shown);
      const documented = operation.responses[answer.status];
      assert.ok(documented, shown);
      const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
      const schema = documented.content?.[type]?.schema;
      if (answer.status === 204) return;
      assert.ok(schema, `${type} is documented: ${shown}`);
      if (type !== 'application/json') return;
      const escaped = path
        .replaceAll('~', '~0')
        .replaceAll('/', '~1')
        .replaceAll('{', '%7B')
        .replaceAll('}', '%7D');
      const pointer = `document#/paths/${escaped}/${method}/responses/${answer.status}/content/application~1json/schema`;
      const validate = ajv.getSchema(pointer);
      assert.ok(validate, pointer);
      assert.ok(validate(answer.json), `${JSON.stringify(validate.errors)}: ${shown}`);
    }),
    { numRuns: 300 },
  );
});
