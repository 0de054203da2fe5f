export { createAddressPolicy, type AddressPolicy } from './address.ts';
export type { Answer, PermanentReason, RetryReason } from './answer.ts';
export { judgeStatus } from './judge-status.ts';
export { createNameLookup, type NameLookup } from './lookup.ts';
export { createPools } from './send-pools.ts';
export { createSender, type Sender, type SenderOptions, type SendRequest } from './send.ts';
export { requestHeaders, targetsOf, type Target } from './target.ts';
