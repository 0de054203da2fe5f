/** The generated pages of this folder's parent, by name. */
import { cliPage } from '../../packages/cli/src/reference.ts';
import { errorsPage } from './errors.ts';
import { renderMetrics } from './metrics.ts';
import { settingsPage } from './settings.ts';

export const pages = { settings: settingsPage, errors: errorsPage, metrics: renderMetrics, cli: cliPage };
