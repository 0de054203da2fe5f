/** All routes of ingest, including its OpenAPI document. */
import { jsonAnswer } from '../http/answer.ts';
import { browserRoutes, type BrowserDependencies } from './browser.ts';
import { documentOperation, openApiDocument } from '../http/openapi.ts';
import type { Route } from '../http/router.ts';
import { trackingRoutes, type TrackingDependencies } from './tracking.ts';

export function ingestRoutes(dependencies: TrackingDependencies & BrowserDependencies): Route[] {
  const routes: Route[] = [...trackingRoutes(dependencies), ...browserRoutes(dependencies)];
  const document: Route = {
    name: 'openapi',
    method: 'GET',
    paths: ['/openapi.json'],
    operation: documentOperation,
    handle: () => described,
  };
  routes.push(document);
  const described = jsonAnswer(200, Buffer.from(JSON.stringify(openApiDocument(routes))));
  return routes;
}
