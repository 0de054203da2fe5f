/**
 * Defect: for each request the library looks up anew which version of it the broker and the library know.
 *
 * Upstream: no issue found.
 *
 * Patch: it is looked up once for each broker and kind of request.
 */
import { replacing } from '../apply.ts';
import type { MadeRequest } from './connection-pool.ts';

/** For one kind of request, the versions that the library knows and the encoder of each. */
export interface Definition {
  readonly versions: readonly string[];
  readonly protocol: (choice: { version: number }) => unknown;
}

/** Makes a request from its content. */
export type MakeRequest = (content: unknown) => MadeRequest;

export type LookUp = (versions: unknown) => (apiKey: number, definition: Definition) => MakeRequest;

export const requestVersions = replacing('protocol/requests', (original: { readonly lookup: LookUp }) => ({
  ...original,
  lookup: (versions: unknown) => {
    const find = original.lookup(versions);
    const found = new Map<Definition, MakeRequest>();
    return (apiKey: number, definition: Definition) => {
      const known = found.get(definition);
      if (known) return known;
      const make = find(apiKey, definition);
      found.set(definition, make);
      return make;
    };
  },
}));
