export {
  applyConfiguration,
  type ApplyOptions,
  type EntryChange,
  type EntryOutcome,
  type WantedConfiguration,
} from './apply.ts';
export {
  checkConfiguration,
  checkDestination,
  checkSource,
  formatPath,
  type Checked,
  type FieldPath,
  type Problem,
} from './check.ts';
export { parseConfiguration, type ParsedConfiguration } from './file.ts';
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
  type Webhook,
} from './schema.ts';
export { openConfig, type ConfigView } from './view.ts';
export type { ConfigChange } from './state.ts';
