/** Everything ingest serves, its own description included. */
import { jsonAnswer } from './answer.ts';
import { browserRoutes, type BrowserDependencies } from './browser.ts';
import { documentOperation, openApiDocument } from './openapi.ts';
import type { Route } from './route.ts';
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
