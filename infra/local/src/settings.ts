/** The settings of `npm start`. docs/settings.md is generated from them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { TailraceError } from '@tailrace/errors';
import { host, serviceSettings, topicSettings } from '@tailrace/service';
import Type from 'typebox';
import { kafkaImage } from './broker/jars.ts';
import { demoPort } from './demo.ts';

export const checkout = join(import.meta.dirname, '..', '..', '..');

const port = (options: { env: string; default: number; maximum?: number; description: string }) =>
  Type.Integer({ minimum: 1, maximum: 65_535, ...options });

export const settings = Type.Object({
  dataDir: Type.String({
    env: 'TAILRACE_DATA_DIR',
    default: join(checkout, '.tailrace'),
    description: 'Folder for logs, keys and the data of the broker. Only one run at a time can use it.',
  }),
  configFile: Type.Optional(
    Type.Decode(
      Type.String({
        env: 'TAILRACE_CONFIG',
        form: 'a file',
        description: 'File with the sources and destinations to apply, instead of those of the demo.',
      }),
      (file) => {
        if (existsSync(file)) return file;
        throw new TailraceError('invalid-settings', `TAILRACE_CONFIG: the file ${file} does not exist`);
      },
    ),
  ),
  host: host({
    env: 'TAILRACE_HOST',
    default: '127.0.0.1',
    description:
      'Address that ingest, control and the metrics are on: `0.0.0.0` lets other machines reach them.',
  }),
  kafkaPort: port({
    env: 'TAILRACE_KAFKA_PORT',
    default: 9092,
    description: 'Port of the broker. If it is in use, a free port is used.',
  }),
  ingestPort: port({ env: 'TAILRACE_INGEST_PORT', default: 8080, description: 'Port of ingest.' }),
  controlPort: port({ env: 'TAILRACE_CONTROL_PORT', default: 8081, description: 'Port of control.' }),
  demoPort: port({
    env: 'TAILRACE_DEMO_PORT',
    default: demoPort,
    description: 'Port of the demo receiver.',
  }),
  ownRegistry: Type.Boolean({
    env: 'TAILRACE_REGISTRY',
    default: false,
    description: 'Start a schema registry, for direct producers in wire format.',
  }),
  registryPort: port({
    env: 'TAILRACE_REGISTRY_PORT',
    default: 8083,
    description: 'Port of the schema registry. If it is in use, a free port is used.',
  }),
  metricsPort: port({
    env: 'TAILRACE_METRICS_PORT',
    default: 9464,
    maximum: 65_532,
    description: 'The first of four ports in a row: metrics of ingest, router, delivery and control.',
  }),
  kafkaImage: Type.String({
    env: 'TAILRACE_KAFKA_IMAGE',
    default: kafkaImage,
    description: 'Image of the broker where a Docker engine runs it.',
  }),
  // The services read these; reading them here too reports a mistake before the broker is started.
  topics: topicSettings(),
  logLevel: serviceSettings({ metricsPort: 0 }).logLevel,
});
