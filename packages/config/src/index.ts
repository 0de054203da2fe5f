export { applyConfiguration, hasSecrets, type ApplyOptions } from './apply.ts';
export { openExport, writeExport, type ExportHeader } from './export/export-file.ts';
export { readConfiguration } from './export/read-configuration.ts';
export { restoreConfiguration } from './export/restore.ts';
export type { SealSecrets } from './export/sealing.ts';
export { differencesOf, type FieldDifference } from './differences.ts';
export type { EntryChange, EntryOutcome } from './plan.ts';
export {
  openConfigEditor,
  type BeforeWrite,
  type Changed,
  type ConfigEditor,
  type ConfigSnapshot,
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
  maskSource,
  unmaskDestination,
} from './secrets/mask.ts';
export { secretMask } from './secrets/mask-text.ts';
export { maskNotification, unmaskNotification } from './secrets/notification.ts';
export {
  checkDestination,
  checkNotification,
  checkSource,
  missingSources,
  type Checked,
} from './rules/check.ts';
export { parseConfiguration, problemsError } from './file.ts';
export { builtInSource, builtInSourceRule } from './rules/source/built-in.ts';
export { formatPath, type FieldPath, type Problem } from './rules/problem.ts';
export type { Entry } from './topic/record.ts';
export {
  fieldSteps,
  filterSchema,
  type FieldCondition,
  type FilterComparison,
  type FilterCondition,
  type FilterTextOperator,
} from './rules/destination/filter.ts';
export {
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
} from './rules/schema.ts';
export { missingSubjects } from './rules/notification/rules.ts';
export {
  maxNotifications,
  notificationEvents,
  notificationSchema,
  type Notification,
  type NotificationEvent,
} from './rules/notification/schema.ts';
export { maxTokens, tokenChoices, tokenScopes, type Token, type TokenScope } from './rules/token.ts';
export { shortWriteKeys } from './rules/source/write-key.ts';
export { seal, startOf, unseal } from './secrets/sealed.ts';
export { headersOfTailrace } from './rules/destination/rules.ts';
export { withServerFields } from './rules/destination/server-fields.ts';
export { transformProblem } from './rules/destination/transform.ts';
export { headerNameProblem, headerValueProblem } from './rules/destination/webhook.ts';
export type { SecretKeys } from './secrets/encryption.ts';
export { newSigningKey, readSigningKey, type SigningKey } from './secrets/signing-key.ts';
export type { ConfigChange, ConfigLookup } from './topic/state.ts';
export { singleFlight } from './topic/single-flight.ts';
export { checkLevel, openConfig, type ConfigView } from './topic/view.ts';
