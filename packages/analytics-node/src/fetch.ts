/** The package in browsers, edge runtimes and workers. */
export { Analytics, type FetchOptions } from './fetch/analytics.ts';
export type { Fetch, FetchInit, FetchResponse } from './fetch/fetch.ts';
export * from './core/index.ts';
