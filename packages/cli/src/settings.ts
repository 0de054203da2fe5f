/** The settings of the command line. docs/settings.md is generated from them. */
import {
  httpUrl,
  kafkaSettings,
  retryWindow,
  schemaRegistryUrl,
  secretKeys,
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
  kafka: kafkaSettings('tailrace-cli'),
  topics: topicSettings(),
  secretKeys: secretKeys(),
};
const registryUrl = schemaRegistryUrl();

/** For commands that call the API of the control service. */
export const apiSettings = Type.Object({ url, token });

/** For commands that work on Kafka. */
export const commandKafkaSettings = Type.Object(kafka);
type CommandKafkaSettings = SettingsOf<typeof commandKafkaSettings>;
export type TopicSettings = CommandKafkaSettings['topics'];
export type SecretKeys = CommandKafkaSettings['secretKeys'];

export const registrySettings = Type.Object({ registryUrl });

/** The services that `doctor` checks. */
export const doctorServiceSettings = Type.Object({ url, token: Type.Optional(token) });

/** All settings of the command line. */
export const settings = Type.Object({
  ...doctorServiceSettings.properties,
  ...kafka,
  registryUrl,
  retryWindowMs: retryWindow(),
});
