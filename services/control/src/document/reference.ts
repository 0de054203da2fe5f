/** Serves the OpenAPI document at `/openapi.json`, and its reference page at `/docs`. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { finishDocument, type OpenApiDocument } from './finish.ts';
import { describeErrors, document, errorSchema } from './openapi.ts';

/**
 * The page loads only what this server has. It has no `upgrade-insecure-requests`, with which browsers request its scripts by
 * HTTPS, except from localhost: over plain HTTP the page would be blank.
 */
const policy = {
  'default-src': "'none'",
  'script-src': "'self'",
  // Swagger UI has styles in its logo and its icons.
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

const documentRoute = {
  operationId: 'openapi',
  summary: 'Get this document',
  tags: ['About'],
  security: [],
  response: {
    200: { title: 'Document', type: 'object', description: 'OpenAPI 3.1', additionalProperties: true },
  },
};

/**
 * Prepares the document, which has the routes that are added after this call, and serves its page.
 *
 * @param limited the operations that are refused while too many of them run
 */
export async function serveReference(app: FastifyInstance, limited: ReadonlySet<string>): Promise<void> {
  await app.register(swagger, {
    openapi: document,
    transformObject: (given) =>
      'openapiObject' in given ? finishDocument(given.openapiObject as OpenApiDocument) : given.swaggerObject,
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, index) =>
        typeof $id === 'string' ? $id : `schema-${index}`,
    },
  });
  app.addSchema(errorSchema);
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: policy,
    // The validator is a public service, which would get the address of this one.
    uiConfig: { deepLinking: true, validatorUrl: null },
  });
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/v1/')) describeErrors(route, limited);
  });
}

export function serveDocument(app: FastifyInstance): void {
  app.get('/openapi.json', { schema: documentRoute }, () => app.swagger());
}
