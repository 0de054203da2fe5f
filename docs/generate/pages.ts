/** The generated files of the repository, by the name that `npm run docs <name>` takes. */
import { capacityPage } from './capacity/page.ts';
import { networksFile, settingsFile, topicsFile } from './chart/files.ts';
import { valuesSchema } from './chart/values.ts';
import { cliPage } from './cli.ts';
import { errorsPage } from './errors.ts';
import { metricsPage } from './metrics.ts';
import { permissionsFile } from './permissions.ts';
import { settingsPage } from './settings.ts';
import { threatModelPage } from './threat-model.ts';

export interface GeneratedFile {
  /** Its path in the repository. */
  readonly file: string;
  readonly text: () => string | Promise<string>;
}

export const pages: Readonly<Record<string, GeneratedFile>> = {
  settings: { file: 'docs/settings.md', text: settingsPage },
  errors: { file: 'docs/errors.md', text: errorsPage },
  'threat-model': { file: 'docs/threat-model.md', text: threatModelPage },
  metrics: { file: 'infra/METRICS.md', text: metricsPage },
  cli: { file: 'docs/cli.md', text: cliPage },
  capacity: { file: 'infra/CAPACITY.md', text: capacityPage },
  'chart-settings': { file: 'infra/chart/files/settings.json', text: settingsFile },
  'chart-permissions': { file: 'infra/chart/files/permissions.yaml', text: permissionsFile },
  'chart-topics': { file: 'infra/chart/files/topics.json', text: topicsFile },
  'chart-networks': { file: 'infra/chart/files/networks.json', text: networksFile },
  'chart-schema': { file: 'infra/chart/values.schema.json', text: valuesSchema },
};
