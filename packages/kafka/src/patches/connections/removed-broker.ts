/**
 * Defect: the library forgets a broker when a connection to it is lost. Requests that still hold it open its connections again, which then
 * nothing closes; and a client that is connecting to it fails with a type error, of which a consumer crashes.
 *
 * Upstream: no issue found.
 *
 * Patch: a broker is kept until metadata do not name it any more. They are read again before the next request. The library has closed its
 * connections by then, and opens them again.
 */
import { replacing, type LibraryClass } from '../apply.ts';

/** The library's class for the brokers of one client: the members that are used here. */
interface BrokerPool {
  metadataExpireAt: number | null;
  removeBroker(address: object): void;
}

export const removedBroker = replacing(
  'cluster/brokerPool',
  (Original: LibraryClass<BrokerPool>): LibraryClass<BrokerPool> =>
    class KeepingPool extends Original {
      override removeBroker(): void {
        this.metadataExpireAt = null;
      }
    },
);
