/** Clients that are generated from the OpenAPI document of control can express every valid call. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { adminToken, openApi, type Api, type ApiRequest } from '../services/control/src/testing/api.ts';
import { useApi } from './api-client/calls.ts';
import { compile } from './api-client/compile.ts';

interface Content {
  readonly schema: { readonly $ref?: string };
  readonly example?: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const json = 'application/json';

let control: Api;
let document: Document;
before(async () => {
  control = await openApi();
  const { json } = await control.ask({ path: '/openapi.json', token: null });
  document = json as unknown as Document;
});
after(() => control[Symbol.asyncDispose]());

function operations(): { path: string; method: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** The JSON bodies and answers of an operation, with the place of each in the document. */
function contentsOf({ path, method, operation }: ReturnType<typeof operations>[number]) {
  const at = `#/paths/${path.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')}/${method}`;
  const type = 'application~1json';
  const body = operation.requestBody?.content[json];
  const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  return [
    ...(body ? [{ ...body, status: undefined, pointer: `${at}/requestBody/content/${type}/schema` }] : []),
    ...answers.flatMap(([status, { content }]) => {
      const answer = content?.[json];
      const pointer = `${at}/responses/${status}/content/${type}/schema`;
      return answer ? [{ ...answer, status, pointer }] : [];
    }),
  ];
}

test('every operation has a summary, a tag, named schemas, and examples that its schemas allow', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'document');
  const problems = operations().flatMap((at) => {
    const { path, method, operation } = at;
    const named = `${method} ${path}`;
    const required = (operation.parameters ?? []).filter((parameter) => parameter.required);
    return [
      ...(operation.summary === undefined ? [`${named} has no summary`] : []),
      ...((operation.tags ?? []).length === 0 ? [`${named} has no tag`] : []),
      ...required
        .filter(({ example }) => example === undefined)
        .map(({ name }) => `${named} has no example of the parameter ${name}`),
      ...contentsOf(at).flatMap(({ schema, example, pointer, status = 'body' }) => {
        if (schema.$ref === undefined) return [`${named} ${status}: its schema has no name; see named()`];
        const validate = ajv.getSchema(`document${pointer}`);
        if (validate?.(example) === true) return [];
        const why = ajv.errorsText(validate?.errors);
        return [`${named} ${status}: its example is invalid (${why}); add examples to the schema`];
      }),
    ];
  });
  assert.deepEqual(problems, []);
});

test('a generated client accepts the example of every operation', () => {
  const examples = [
    `import createClient from 'openapi-fetch';`,
    `import type { paths } from '@tailrace/api';`,
    `const client = createClient<paths>({ baseUrl: 'http://control' });`,
    ...operations().flatMap((at) => [
      callOf(at),
      ...contentsOf(at).flatMap(({ example, status }) => {
        if (status === undefined) return [];
        const type = `paths[${quote(at.path)}][${quote(at.method)}]['responses'][${status}]['content'][${quote(json)}]`;
        return [`void (${JSON.stringify(example)} satisfies ${type});`];
      }),
    ]),
  ];
  assert.deepEqual(compile({ 'examples.ts': examples.join('\n') }), []);
});

/** A call with the examples of the document. */
function callOf({ path, method, operation }: ReturnType<typeof operations>[number]): string {
  const given = (place: string): object =>
    Object.fromEntries(
      (operation.parameters ?? [])
        .filter((parameter) => parameter.in === place && parameter.required)
        .map(({ name, example }) => [name, example]),
    );
  const [body] = Object.values(operation.requestBody?.content ?? {});
  const options = {
    params: { path: given('path'), query: given('query'), header: given('header') },
    ...(body && { body: body.example ?? 'text' }),
    ...(!operation.responses['200']?.content?.[json] && { parseAs: 'text' }),
  };
  const text = JSON.stringify(options, (key, value: unknown) =>
    key !== '' && isEmpty(value) ? undefined : value,
  );
  return `void client.${method.toUpperCase()}(${quote(path)}, ${text});`;
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function quote(text: string): string {
  return JSON.stringify(text);
}

test('the calls of a generated client are accepted by the API', async () => {
  const send = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const bytes = await request.text();
    const { status, headers, text } = await control.ask({
      method: request.method as NonNullable<ApiRequest['method']>,
      path: `${pathname}${search}`,
      headers: Object.fromEntries(request.headers),
      ...(bytes !== '' && { bytes }),
      token: null,
    });
    return new Response(status === 204 ? null : text, { status, headers });
  };
  await useApi(send, adminToken);
});
