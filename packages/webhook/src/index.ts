export { createAddressPolicy } from './address.ts';
export { classifyError, classifyStatus, type Answer } from './classify.ts';
export { createNameLookup, type NameLookupOptions } from './dns/lookup.ts';
export type { NameSettings } from './dns/name-settings.ts';
export type { NameLookup } from './dns/resolve.ts';
export { describeExchange, keptOfFailures, KeptExchange, pairsOf, type Keeping } from './kept-exchange.ts';
export { createPools } from './send-pools.ts';
export { createSender, type Sender, type SendRequest } from './oauth2/sender.ts';
export type { SenderOptions } from './send.ts';
export {
  requestHeaders,
  secretsAt,
  signingKeysOf,
  targetsOf,
  tokenServerOf,
  type Target,
  type TokenServer,
} from './target.ts';
