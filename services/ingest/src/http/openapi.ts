/**
 * The OpenAPI 3.1 document of ingest, generated from the routes, the schemas of the calls, and the table of errors.
 * Each route has its operation, so none is undocumented.
 */
import { errorTable, type ErrorCode } from '@tailrace/errors';
import { batchSchema, callSchemas, type CallType, type JsonObject } from '@tailrace/events';
import { errorResponses } from '@tailrace/service';
import type { Operation, Route } from './router.ts';

const everywhere = ['malformed-request', 'request-timeout', 'internal-error'] as const;
const ofBodies = ['unsupported-encoding', 'overloaded'] as const;
const ofSources = ['unknown-write-key', 'kafka-unavailable'] as const;
const ofCalls = [
  'malformed-json',
  'invalid-call',
  'rate-limited',
  'topic-missing',
  'record-too-large',
  'shutting-down',
] as const satisfies ErrorCode[];
const byKey = [{ writeKey: [] }, { token: [] }, {}];

const schema = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
const nameOf = (type: CallType): string => type.charAt(0).toUpperCase() + type.slice(1);
const jsonBody = (name: string): JsonObject => ({
  required: true,
  description: 'JSON in UTF-8, for any Content-Type; Content-Encoding may be gzip or deflate',
  content: { 'application/json': { schema: schema(name) } },
});
const answers = (description: string, name: string): JsonObject => ({
  description,
  content: { 'application/json': { schema: schema(name) } },
});

export function callOperation(type: CallType): Operation {
  return {
    operationId: type,
    summary: `Accepts one ${type} call, of at most 32 KB`,
    tags: ['Calls'],
    security: byKey,
    requestBody: jsonBody(nameOf(type)),
    success: answers('All in-sync replicas have the call', 'Success'),
    errors: [...ofBodies, ...ofSources, ...ofCalls, 'call-too-large'],
  };
}

export const batchOperation: Operation = {
  operationId: 'batch',
  summary: 'Accepts up to 2,500 calls, of at most 32 KB each and 500 KB together',
  tags: ['Calls'],
  security: byKey,
  requestBody: jsonBody('Batch'),
  success: answers('All in-sync replicas have every call that is not listed as rejected', 'BatchSuccess'),
  errors: [...ofBodies, ...ofSources, ...ofCalls, 'batch-too-large', 'call-too-large'],
};

export function pixelOperation(type: CallType): Operation {
  const description = `The ${type} call as JSON, with its writeKey, in base64 or base64url`;
  return {
    operationId: `${type}Pixel`,
    summary: `Accepts one ${type} call from pages that can only load images`,
    tags: ['Calls'],
    security: byKey,
    parameters: [{ name: 'data', in: 'query', required: true, description, schema: { type: 'string' } }],
    success: { description: 'A transparent image of one pixel', content: { 'image/gif': {} } },
    errors: [...ofSources, ...ofCalls, 'overloaded'],
  };
}

export const settingsOperation: Operation = {
  operationId: 'settings',
  summary: 'Returns the settings of the browser SDK, with the address for its calls',
  tags: ['Browsers'],
  security: [],
  parameters: [{ name: 'writeKey', in: 'path', required: true, schema: { type: 'string' } }],
  success: answers('The settings', 'Settings'),
  errors: ofSources,
};

export const metricsOperation: Operation = {
  operationId: 'sdkMetrics',
  summary: "Accepts the browser SDK's metrics, and discards them",
  tags: ['Browsers'],
  security: [],
  requestBody: { content: { 'text/plain': {} } },
  success: answers('The metrics were discarded', 'Success'),
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
        'Accepts tracking calls as the public tracking SDKs send them, and responds with 200 when Kafka has acknowledged them. ' +
        'A slash at the end of a path, or a repeated one, is ignored.',
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
    // Operation ids must be unique, but all forms of a path share one operation.
    operationId: form === 0 ? operationId : `${operationId}Form${form + 1}`,
    responses: { 200: success, ...errorResponses([...everywhere, ...errors], schema('Error'), retryAfter) },
  };
}

const retryAfter = {
  description: 'Seconds after which to send the request again',
  schema: { type: 'integer' },
};

const code = { enum: Object.keys(errorTable), description: 'See the table of errors' };
const message = { type: 'string', description: 'What is wrong, and how to fix it' };
const rejected = {
  type: 'array',
  description: 'The invalid calls, which are written to events.rejected as they were sent',
  items: {
    type: 'object',
    properties: {
      index: { type: 'integer', description: 'Index in the batch, from 0' },
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
