import type { Schema } from '../../api/client.ts';

export type DestinationState = 'enabled' | 'disabled' | 'paused';

/** A disabled destination gets no events, paused or not. */
export function stateOf({
  enabled,
  paused,
}: Pick<Schema['Destination'], 'enabled' | 'paused'>): DestinationState {
  if (!enabled) return 'disabled';
  return paused ? 'paused' : 'enabled';
}
