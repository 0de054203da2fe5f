/** The types of the management API. `npm ci` and each check of types generate schema.d.ts from the document that control serves. */
import type { components, paths } from './schema.d.ts';

export type { paths };
/** By its name in the document: `Schema['Delivery']`. */
export type Schema = components['schemas'];
