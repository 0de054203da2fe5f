/** Hostile input to every operation: each answer is short, and none is a defect of the service. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openApi, type Api, type ApiRequest } from '../testing/api.ts';

interface Operation {
  readonly method: NonNullable<ApiRequest['method']>;
  readonly path: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly hasBody: boolean;
  readonly example: unknown;
}

const maxAnswerBytes = 16 * 1024;
const levels = 100_000;
const long = 'x'.repeat(1_000_000);

const texts = [
  '%00',
  '%ED%A0%80',
  '%',
  '..',
  '%2F',
  '%2e%2e%2f',
  '__proto__',
  'constructor',
  '%F0%9F%92%A9',
  '-1',
  '1e999',
  'a'.repeat(8_000),
  '%22'.repeat(2_000),
  '['.repeat(2_000),
  '%5B'.repeat(2_000),
  '99999999999999999999',
  Buffer.from('['.repeat(3_000)).toString('base64url'),
  Buffer.from('{"createdAt":1e999,"id":"\\ud800"}').toString('base64url'),
];
const bodies: readonly string[] = [
  '['.repeat(levels),
  '['.repeat(levels) + ']'.repeat(levels),
  '{"a":'.repeat(levels) + '1' + '}'.repeat(levels),
  `[${'1,'.repeat(200_000)}1]`,
  `{${Array.from({ length: 50_000 }, (_, n) => `"k${n}":1`).join(',')}}`,
  JSON.stringify(long),
  JSON.stringify({ [long]: 1 }),
  JSON.stringify({ id: long.slice(0, 900_000) }),
  'null',
  '1',
  '""',
  '[]',
  '{}',
  '{"__proto__":{"a":1}}',
  '{"constructor":{"prototype":1}}',
  '\u0000',
  '"\\ud800"',
];

let control: Api;
let operations: Operation[];
before(async () => {
  control = await openApi();
  const { json } = await control.ask({ path: '/openapi.json', token: null });
  const { paths } = json as { paths: Record<string, Record<string, never>> };
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { parameters = [], requestBody } = operation as {
        parameters?: Operation['parameters'];
        requestBody?: { content: Record<string, { example?: unknown }> };
      };
      return {
        path,
        parameters,
        hasBody: requestBody !== undefined,
        example: requestBody?.content['application/json']?.example,
        method: method.toUpperCase() as Operation['method'],
      };
    }),
  );
  await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'web' } });
  const settings = { webhooks: [{ url: 'https://example.com/' }] };
  const body = { id: 'crm', type: 'Webhooks', sources: ['web'], settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
});
after(() => control[Symbol.asyncDispose]());

async function check(request: ApiRequest): Promise<void> {
  const { status, text } = await control.ask(request);
  const named = `${request.method ?? 'GET'} ${request.path.slice(0, 80)} ${String(request.bytes ?? '').slice(0, 60)}`;
  const { err: defect } = control.log.findLast(({ msg }) => msg === 'request failed') ?? {};
  assert.ok(status < 500, `${named}: ${status} ${text.slice(0, 200)} ${JSON.stringify(defect)}`);
  if (status >= 400) assert.ok(text.length < maxAnswerBytes, `${named}: ${text.length} bytes`);
}

/** The path with each parameter set; a path names entries that exist. */
function pathWith({ path, parameters }: Operation, changed?: string, value = ''): string {
  return parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce((filled, { name }) => {
      const usual = path.startsWith('/v1/destinations') && name === 'id' ? 'crm' : 'web';
      return filled.replace(`{${name}}`, name === changed ? value : usual);
    }, path);
}

/** A stream that begins does not end. */
const isStream = ({ path }: Operation): boolean => path.endsWith('/stream');

test('each parameter of each operation refuses what it cannot be', async () => {
  for (const operation of operations.filter((one) => !isStream(one))) {
    for (const { name, in: place } of operation.parameters) {
      for (const text of texts) {
        const { method } = operation;
        const base = pathWith(operation, place === 'path' ? name : undefined, text);
        const path = place === 'query' ? `${base}?${name}=${text}` : base;
        const headers = place === 'header' ? { [name]: text } : {};
        const bytes = operation.hasBody ? '{"a":1}' : undefined;
        await check({ method, path, headers, ...(bytes !== undefined && { bytes }) });
      }
    }
  }
});

test('each body refuses what it cannot be, at any depth and length', async () => {
  for (const operation of operations.filter(({ hasBody }) => hasBody)) {
    for (const bytes of bodies) {
      await check({ method: operation.method, path: pathWith(operation), bytes });
    }
    const fields = Object.keys(operation.example ?? {});
    for (const field of fields) {
      const values = [
        long.slice(0, 50_000),
        Array(5_000).fill(''),
        { [field]: { a: null } },
        null,
        -1,
        '\u0000',
      ];
      for (const value of values) {
        const body = { ...(operation.example as object), [field]: value };
        await check({ method: operation.method, path: pathWith(operation), body });
      }
    }
  }
});

test('paths outside of the API refuse what no file can be named', async () => {
  for (const path of [
    '/docs/static/%00',
    '/docs/static/..%2f..%2fpackage.json',
    '/docs/%00',
    '/%00',
    '/%ED%A0%80',
  ]) {
    for (const method of ['GET', 'HEAD', 'POST'] as const) {
      await check({ method, path, token: null });
    }
  }
});
