export { createAddressPolicy, type AddressPolicy } from './address.ts';
export type { Answer, PermanentReason, RetryReason } from './answer.ts';
export { judgeStatus } from './judge-status.ts';
export { createNameLookup, type NameLookupOptions } from './lookup.ts';
export type { NameSettings } from './name-settings.ts';
export type { NameLookup } from './resolve-name.ts';
export { createPools } from './send-pools.ts';
export { createSender, type Sender, type SenderOptions, type SendRequest } from './send.ts';
export { requestHeaders, targetsOf, type Target } from './target.ts';
