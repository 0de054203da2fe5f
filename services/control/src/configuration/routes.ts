/** The routes of the configuration, in the order of the OpenAPI document. */
import type { Api } from '../http/api.ts';
import { catalogRoutes } from './catalog-routes.ts';
import { connectionRoutes } from './destinations/connection-routes.ts';
import { pauseRoutes, type PauseNeeds } from './destinations/pause-routes.ts';
import { rotationRoutes } from './destinations/rotation-routes.ts';
import { destinationRoutes } from './destinations/routes.ts';
import type { TransformTrials } from './destinations/transform-trials.ts';
import { secretRoutes } from './secret-routes.ts';
import { blockedEventRoutes } from './sources/blocked-event-routes.ts';
import { sourceRoutes } from './sources/routes.ts';
import { writeKeyRoutes } from './sources/write-key-routes.ts';

export function configurationRoutes(
  app: Api,
  needs: PauseNeeds & { readonly trials: TransformTrials },
): void {
  const { config, trials } = needs;
  catalogRoutes(app);
  sourceRoutes(app, config);
  writeKeyRoutes(app, config);
  blockedEventRoutes(app, config);
  destinationRoutes(app, config, trials);
  connectionRoutes(app, config);
  pauseRoutes(app, needs);
  rotationRoutes(app, config);
  secretRoutes(app, config);
}
