/**
 * The built-in source of operational events (services/control/src/operations). It exists in every view of the configuration without
 * being stored, has no write keys, and cannot be changed. Destinations are connected to it as to any other source.
 */
import type { Source } from '../schema.ts';

export const builtInSource = {
  id: 'tailrace',
  name: 'Operational events of Tailrace',
  writeKeys: [],
  enabled: true,
  builtIn: true,
} as const satisfies Source & { readonly builtIn: true };

export const builtInSourceRule = `is reserved: the source ${JSON.stringify(builtInSource.id)} is built in and cannot be changed`;
