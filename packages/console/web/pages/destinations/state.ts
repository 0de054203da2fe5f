import type { Schema } from '../../api/client.ts';

export type DestinationState = Schema['DestinationHealth']['state'] | 'enabled';

/** Until the health is known, and for a token that must not see it, what the settings say. They may have changed since. */
export function stateOf(
  { enabled, paused }: Pick<Schema['Destination'], 'enabled' | 'paused'>,
  health: Pick<Schema['DestinationHealth'], 'state'> | undefined,
): DestinationState {
  if (!enabled) return 'disabled';
  if (paused) return 'paused';
  return health === undefined || health.state === 'disabled' || health.state === 'paused'
    ? 'enabled'
    : health.state;
}
