/**
 * Defect: the library converts offsets to BigInt to see whether they are negative, for each partition of each fetch.
 *
 * Upstream: no issue found.
 *
 * Patch: offsets are safe integers, which numbers hold.
 */
import { replacing } from '../apply.ts';

type IsInvalid = (offset: string | number | null | undefined) => boolean;

export const offsetCheck = replacing<IsInvalid>(
  'consumer/offsetManager/isInvalidOffset',
  () => (offset) => offset === undefined || offset === null || offset === '' || Number(offset) < 0,
);
