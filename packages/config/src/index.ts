export {
  applyConfiguration,
  type ApplyOptions,
  type EntryChange,
  type EntryOutcome,
  type WantedConfiguration,
} from './apply.ts';
export { checkConfiguration, checkDestination, checkSource, type Checked } from './check.ts';
export { parseConfiguration, type ParsedConfiguration } from './file.ts';
export { formatPath, type FieldPath, type Problem } from './problem.ts';
export type { EntryKind } from './record.ts';
export { redactDestination, redactSource, redactUrl } from './redact.ts';
export {
  configurationSchema,
  destinationSchema,
  sourceSchema,
  webhooksSettingsSchema,
  type Configuration,
  type Destination,
  type Source,
  type TlsSettings,
  type Webhook,
} from './schema.ts';
export { openConfig, type ConfigView } from './view.ts';
export type { ConfigChange } from './state.ts';
