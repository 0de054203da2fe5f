export { applyConfiguration, hasSecrets, type ApplyOptions, type WantedConfiguration } from './apply.ts';
export {
  openExport,
  writeExport,
  type ExportHeader,
  type ExportOrigin,
  type OpenedExport,
} from './export/export-file.ts';
export { readConfiguration, type StoredConfiguration } from './export/read-configuration.ts';
export { restoreConfiguration, type RestoreMode, type RestoreOptions } from './export/restore.ts';
export type { SealSecrets } from './export/sealing.ts';
export { differencesOf, type FieldDifference } from './differences.ts';
export type { EntryChange, EntryOutcome } from './plan.ts';
export {
  openConfigEditor,
  type BeforeWrite,
  type Changed,
  type ConfigEditor,
  type ConfigSnapshot,
  type Decision,
} from './topic/editor.ts';
export {
  escapeReference,
  mapSecretPlaces,
  resolveEntry,
  resolveReference,
  type ReferenceLookups,
} from './secrets/references.ts';
export {
  isMasked,
  maskDestination,
  maskDestinationForReaders,
  maskQuery,
  maskSource,
  unmaskDestination,
} from './secrets/mask.ts';
export { secretMask } from './secrets/mask-text.ts';
export { maskNotification, unmaskNotification } from './secrets/notification.ts';
export {
  checkConfiguration,
  checkDestination,
  checkNotification,
  checkSource,
  checkToken,
  missingSources,
  type Checked,
} from './rules/check.ts';
export { parseConfiguration, problemsError, type ParsedConfiguration, type ParseOptions } from './file.ts';
export { builtInSource, builtInSourceRule } from './rules/source/built-in.ts';
export { formatPath, type FieldPath, type Problem } from './rules/problem.ts';
export type { Entry, EntryKind } from './topic/record.ts';
export {
  redactDestination,
  redactNotification,
  redactSource,
  redactToken,
  redactUrl,
} from './secrets/redact.ts';
export {
  fieldSteps,
  filterLimits,
  filterSchema,
  type FieldCondition,
  type FilterComparison,
  type FilterCondition,
  type FilterTextOperator,
} from './rules/destination/filter.ts';
export {
  configurationSchema,
  defaultRateLimitBytes,
  destinationSchema,
  sourceSchema,
  webhooksSettingsSchema,
  type AuthSettings,
  type Configuration,
  type Destination,
  type Ed25519Settings,
  type Fields,
  type Filter,
  type OAuth2Settings,
  type Sample,
  type Source,
  type TlsSettings,
  type Transform,
  type Webhook,
} from './rules/schema.ts';
export { missingSubjects } from './rules/notification/rules.ts';
export {
  maxNotifications,
  notificationEvents,
  notificationSchema,
  webhookFormats,
  type Notification,
  type NotificationEvent,
} from './rules/notification/schema.ts';
export {
  maxTokens,
  tokenChoices,
  tokenSchema,
  tokenScopes,
  type Token,
  type TokenScope,
} from './rules/token.ts';
export { shortWriteKeys } from './rules/source/write-key.ts';
export { seal, startOf, unseal } from './secrets/sealed.ts';
export { headersOfTailrace } from './rules/destination/rules.ts';
export { withServerFields } from './rules/destination/server-fields.ts';
export { transformProblem } from './rules/destination/transform.ts';
export { headerNameProblem, headerValueProblem } from './rules/destination/webhook.ts';
export type { SecretKeys } from './secrets/encryption.ts';
export { newSigningKey, readSigningKey, type PublicJwk, type SigningKey } from './secrets/signing-key.ts';
export type { ConfigChange, ConfigLookup } from './topic/state.ts';
export { singleFlight } from './topic/single-flight.ts';
export { checkLevel, openConfig, type ConfigOptions, type ConfigView } from './topic/view.ts';
