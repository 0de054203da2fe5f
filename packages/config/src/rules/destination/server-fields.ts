/** What only the server sets: the Ed25519 keys of a destination, and the version of its transform. */
import { withSigningKeys } from '../../secrets/signing-key.ts';
import type { Destination } from '../schema.ts';

/** `wanted` as it is stored in place of `stored`. */
export function withServerFields(wanted: Destination, stored: Destination | undefined): Destination {
  return withTransformVersion(withSigningKeys(wanted, stored), stored);
}

/** `wanted` with the version of its transform: that of the stored one, or the next where the code is another one. */
function withTransformVersion(wanted: Destination, stored: Destination | undefined): Destination {
  if (!wanted.transform) return wanted;
  const { code } = wanted.transform;
  const { code: before, version = 1 } = stored?.transform ?? {};
  return {
    ...wanted,
    transform: { code, version: before === undefined || code === before ? version : version + 1 },
  };
}
