/** The settings of the processes that the chart runs. `cli` runs in its Jobs. */
import type { TObject } from 'typebox';
import { settings as cli } from '../../../packages/cli/src/settings.ts';
import { settings as control } from '../../../services/control/src/settings.ts';
import { settings as delivery } from '../../../services/delivery/src/settings.ts';
import { settings as ingest } from '../../../services/ingest/src/settings.ts';
import { settings as router } from '../../../services/router/src/settings.ts';

export const services = { ingest, router, delivery, control };
export const settingsByProcess: Readonly<Record<string, TObject>> = { ...services, cli };
