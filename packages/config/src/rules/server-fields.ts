/** What only the server sets: the Ed25519 keys of a destination, and the version of its transform. */
import { withSigningKeys } from '../secrets/signing-key.ts';
import type { Destination } from './schema.ts';

/** `wanted` as it is stored in place of `stored`. */
export function withServerFields(wanted: Destination, stored: Destination | undefined): Destination {
  return withTransformVersion(withSigningKeys(wanted, stored), stored);
}

/**
 * `given` with the version of its transform: that of the stored one, or the next where the code is another one. The version of one that is
 * removed is kept, because deliveries name it.
 */
function withTransformVersion(given: Destination, stored: Destination | undefined): Destination {
  const { removedTransformVersion: _removed, ...wanted } = given;
  const { code: before, version = stored?.removedTransformVersion ?? 0 } = stored?.transform ?? {};
  if (!wanted.transform) return version > 0 ? { ...wanted, removedTransformVersion: version } : wanted;
  const { code } = wanted.transform;
  return { ...wanted, transform: { code, version: code === before ? Math.max(1, version) : version + 1 } };
}
