/** The settings of the command line. docs/settings.md is generated from them. */
import {
  httpUrl,
  kafkaSettings,
  port,
  registrySettings as registry,
  retryWindow,
  secretKeys,
  topicPrefix,
  topicSettings,
  type SettingsOf,
} from '@tailrace/service';
import Type from 'typebox';

const url = httpUrl({
  env: 'TAILRACE_URL',
  default: 'http://localhost:8081',
  description: 'URL of the control service.',
});
const token = Type.String({
  env: 'TAILRACE_API_TOKEN',
  writeOnly: true,
  hint: 'Set it to a token of the control service; `npm start` prints one.',
  description: 'Token for the control service. If it contains several, the first is used.',
});
const kafka = {
  kafka: kafkaSettings('cli'),
  topics: topicSettings(),
  secretKeys: secretKeys(),
};

/** For commands that call the API of the control service. */
export const apiSettings = Type.Object({ url, token });

/** For commands that work on Kafka. */
export const commandKafkaSettings = Type.Object(kafka);
type CommandKafkaSettings = SettingsOf<typeof commandKafkaSettings>;
export type TopicSettings = CommandKafkaSettings['topics'];
export type SecretKeys = CommandKafkaSettings['secretKeys'];

export const registrySettings = Type.Object({ registry: registry() });

/** The services that `doctor` checks. */
export const doctorServiceSettings = Type.Object({
  url: Type.Optional(httpUrl({ env: 'TAILRACE_URL', description: 'URL of the control service.' })),
  token: Type.Optional(token),
  prefix: topicPrefix(),
  targets: Type.Array(Type.String(), {
    env: 'TAILRACE_DOCTOR_TARGETS',
    default: [],
    form: 'name=host:port, or several separated by commas',
    description:
      'Replicas that `tailrace doctor` looks at, as name=host:port; every address of the host is one.',
  }),
  ingestPort: port({ env: 'TAILRACE_INGEST_PORT', default: 8080, description: 'Port of ingest.' }),
  controlPort: port({ env: 'TAILRACE_CONTROL_PORT', default: 8081, description: 'Port of control.' }),
  metricsPort: port({
    env: 'TAILRACE_METRICS_PORT',
    default: 9464,
    description: 'First of the four metrics ports of `npm start`.',
  }),
});

const passphrase = Type.Optional(
  Type.String({
    env: 'TAILRACE_EXPORT_PASSPHRASE',
    minLength: 12,
    form: 'a text of at least 12 characters',
    writeOnly: true,
    description: 'Seals and opens exports of the configuration, in place of TAILRACE_SECRET_KEY.',
  }),
);

/** For `config export`, `config verify` and `config import`. */
export const exportSettings = Type.Object({ passphrase });

/** For commands that need the keys and no Kafka. */
export const secretKeySettings = Type.Object({ secretKeys: kafka.secretKeys });

/** All settings of the command line. */
export const settings = Type.Object({
  url,
  token: Type.Optional(token),
  targets: doctorServiceSettings.properties.targets,
  ingestPort: doctorServiceSettings.properties.ingestPort,
  controlPort: doctorServiceSettings.properties.controlPort,
  metricsPort: doctorServiceSettings.properties.metricsPort,
  ...kafka,
  registry: registry(),
  retryWindowMs: retryWindow(),
  passphrase,
});
