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
} from './topic/editor.ts';
export { maskDestination, secretMask, unmaskDestination } from './secrets/mask.ts';
export {
  checkConfiguration,
  checkDestination,
  checkSource,
  missingSources,
  type Checked,
} from './rules/check.ts';
export { parseConfiguration, problemsError, type ParsedConfiguration } from './file.ts';
export { formatPath, type FieldPath, type Problem } from './rules/problem.ts';
export type { Entry, EntryKind } from './topic/record.ts';
export { redactDestination, redactSource, redactUrl } from './secrets/redact.ts';
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
} from './rules/schema.ts';
export { hasSecrets } from './secrets/secrets.ts';
export type { SecretKeys } from './secrets/encryption.ts';
export type { ConfigChange, ConfigLookup } from './topic/state.ts';
export { openConfig, type ConfigOptions, type ConfigView } from './topic/view.ts';
