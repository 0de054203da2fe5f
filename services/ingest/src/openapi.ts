/**
 * The OpenAPI 3.1 document of ingest, made from what is in force: the routes, the schemas of the calls, and the table
 * of errors. Each route carries its operation, so that there is none without the other.
 */
import { errorTable, type ErrorCode } from '@tailrace/errors';
import { batchSchema, callSchemas, type CallType, type JsonObject } from '@tailrace/events';
import type { Route } from './route.ts';

/** An OpenAPI Operation Object, but for the answers that every operation has. */
export interface Operation extends JsonObject {
  readonly operationId: string;
  readonly summary: string;
  /** Errors beside those of {@link everywhere}. */
  readonly errors: readonly ErrorCode[];
  readonly success: JsonObject;
}

const everywhere = ['malformed-request', 'request-timeout', 'internal-error'] as const;
const ofBodies = ['unsupported-encoding', 'overloaded'] as const;
const ofSources = ['unknown-write-key', 'kafka-unavailable'] as const;
const ofCalls = [
  ...['malformed-json', 'invalid-call', 'rate-limited'],
  ...['topic-missing', 'record-too-large', 'shutting-down'],
] as const satisfies ErrorCode[];
const byKey = [{ writeKey: [] }, { token: [] }, {}];

const schema = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
const nameOf = (type: CallType): string => type.charAt(0).toUpperCase() + type.slice(1);
const jsonBody = (name: string): JsonObject => ({
  required: true,
  description: 'JSON in UTF-8, whatever Content-Type says; Content-Encoding may be gzip or deflate',
  content: { 'application/json': { schema: schema(name) } },
});
const answers = (description: string, name: string): JsonObject => ({
  description,
  content: { 'application/json': { schema: schema(name) } },
});

export function callOperation(type: CallType): Operation {
  return {
    operationId: type,
    summary: `Takes one ${type} call, of at most 32 KB`,
    tags: ['Calls'],
    security: byKey,
    requestBody: jsonBody(nameOf(type)),
    success: answers('All in-sync replicas have the call', 'Success'),
    errors: [...ofBodies, ...ofSources, ...ofCalls, 'call-too-large'],
  };
}

export const batchOperation: Operation = {
  operationId: 'batch',
  summary: 'Takes up to 2,500 calls, of at most 32 KB each and 500 KB together',
  tags: ['Calls'],
  security: byKey,
  requestBody: jsonBody('Batch'),
  success: answers('All in-sync replicas have every call that is not named as rejected', 'BatchSuccess'),
  errors: [...ofBodies, ...ofSources, ...ofCalls, 'batch-too-large', 'call-too-large'],
};

export function pixelOperation(type: CallType): Operation {
  const description = `The ${type} call as JSON, with its writeKey, in base64 or base64url`;
  return {
    operationId: `${type}Pixel`,
    summary: `Takes one ${type} call from where only images can be loaded`,
    tags: ['Calls'],
    security: byKey,
    parameters: [{ name: 'data', in: 'query', required: true, description, schema: { type: 'string' } }],
    success: { description: 'A transparent image of one pixel', content: { 'image/gif': {} } },
    errors: [...ofSources, ...ofCalls, 'overloaded'],
  };
}

export const settingsOperation: Operation = {
  operationId: 'settings',
  summary: 'Tells the browser SDK where to send its calls',
  tags: ['Browsers'],
  security: [],
  parameters: [{ name: 'writeKey', in: 'path', required: true, schema: { type: 'string' } }],
  success: answers('The settings', 'Settings'),
  errors: ofSources,
};

export const metricsOperation: Operation = {
  operationId: 'sdkMetrics',
  summary: "Takes the browser SDK's metrics, and forgets them",
  tags: ['Browsers'],
  security: [],
  requestBody: { content: { 'text/plain': {} } },
  success: answers('They are gone', 'Success'),
  errors: ['overloaded', 'batch-too-large'],
};

export const documentOperation: Operation = {
  operationId: 'openapi',
  summary: 'This document',
  tags: ['About'],
  security: [],
  success: { description: 'OpenAPI 3.1', content: { 'application/json': { schema: { type: 'object' } } } },
  errors: [],
};

export function openApiDocument(routes: readonly Route[]): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes) {
    const method = route.method.toLowerCase();
    for (const path of route.paths) paths[path] = { ...paths[path], [method]: operationAt(route, path) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tailrace ingest',
      version: '1',
      description:
        'Takes tracking calls as the public tracking SDKs send them, and answers 200 once Kafka has them. ' +
        'A slash at the end of a path, or a second one anywhere, changes nothing.',
    },
    servers: [{ url: '/' }],
    tags: [{ name: 'Calls' }, { name: 'Browsers' }, { name: 'About' }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        writeKey: { type: 'http', scheme: 'basic', description: 'The write key as user name, no password' },
        token: { type: 'http', scheme: 'bearer', description: 'The write key as token' },
      },
    },
  };
}

function operationAt({ paths, operation }: Route, path: string): JsonObject {
  const { operationId, errors, success, ...rest } = operation;
  const form = paths.indexOf(path);
  return {
    ...rest,
    // Unique, though the forms of a path are one operation.
    operationId: form === 0 ? operationId : `${operationId}Form${form + 1}`,
    responses: { 200: success, ...errorResponses([...everywhere, ...errors]) },
  };
}

/** One for each status, because that is what OpenAPI can tell apart. */
function errorResponses(codes: readonly ErrorCode[]): Record<string, JsonObject> {
  const responses: Record<string, JsonObject> = {};
  for (const [status, ofStatus] of Map.groupBy(codes, (code) => errorTable[code].status)) {
    const description = ofStatus.map((code) => `\`${code}\`: ${errorTable[code].meaning}`).join('; ');
    const retries = status === 429 || status === 503;
    responses[status] = { ...answers(description, 'Error'), ...(retries && { headers: retryAfter }) };
  }
  return responses;
}

const retryAfter = {
  'Retry-After': { description: 'Seconds after which to send it again', schema: { type: 'integer' } },
};

const code = { enum: Object.keys(errorTable), description: 'See the table of errors' };
const message = { type: 'string', description: 'What is wrong, and how to fix it' };
const rejected = {
  type: 'array',
  description: 'The calls that cannot be used, which are set aside as they were sent',
  items: {
    type: 'object',
    properties: {
      index: { type: 'integer', description: 'Place in the batch, from 0' },
      messageId: { type: 'string' },
      code,
      message,
    },
    required: ['index', 'code', 'message'],
  },
};
const yes = { const: true };

const schemas: Record<string, JsonObject> = {
  ...Object.fromEntries(
    Object.entries(callSchemas).map(([type, callSchema]) => [nameOf(type as CallType), callSchema]),
  ),
  Batch: batchSchema((type) => `#/components/schemas/${nameOf(type)}`),
  Success: { type: 'object', properties: { success: yes }, required: ['success'] },
  BatchSuccess: { type: 'object', properties: { success: yes, rejected }, required: ['success'] },
  Error: { type: 'object', properties: { code, message, rejected }, required: ['code', 'message'] },
  Settings: {
    type: 'object',
    properties: {
      integrations: {
        type: 'object',
        properties: {
          'Segment.io': {
            type: 'object',
            properties: {
              apiKey: { type: 'string' },
              apiHost: { type: 'string' },
              protocol: { enum: ['http', 'https'] },
            },
            required: ['apiKey', 'apiHost', 'protocol'],
          },
        },
      },
    },
    required: ['integrations'],
  },
};
