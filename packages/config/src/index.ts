export {
  applyConfiguration,
  type ApplyOptions,
  type EntryChange,
  type EntryOutcome,
  type FieldDifference,
  type WantedConfiguration,
} from './apply.ts';
export {
  openConfigEditor,
  type Changed,
  type ConfigEditor,
  type ConfigSnapshot,
  type Decision,
} from './editor.ts';
export { maskDestination, secretMask, unmaskDestination } from './mask.ts';
export { checkConfiguration, checkDestination, checkSource, missingSources, type Checked } from './check.ts';
export { parseConfiguration, problemsError, type ParsedConfiguration } from './file.ts';
export { formatPath, type FieldPath, type Problem } from './problem.ts';
export type { Entry, EntryKind } from './record.ts';
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
export { hasSecrets } from './secrets.ts';
export type { SecretKeys } from './seal.ts';
export type { ConfigChange, ConfigLookup } from './state.ts';
export { openConfig, type ConfigOptions, type ConfigView } from './view.ts';
