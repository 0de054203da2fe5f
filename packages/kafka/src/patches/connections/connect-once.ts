/**
 * Defect: the library opens one socket for each request that finds a connection closed, and keeps all but the last until the broker
 * closes them.
 *
 * Upstream: no issue found.
 *
 * Patch: requests that find a connection closed wait until it is open.
 */
import { replacing, type LibraryClass } from '../apply.ts';
import type { ConnectionPool } from './connection-pool.ts';

export const connectOnce = replacing(
  'network/connectionPool',
  (Original: LibraryClass<ConnectionPool>): LibraryClass<ConnectionPool> =>
    class SparingPool extends Original {
      readonly #opening = new Map<number, Promise<unknown>>();

      override getConnection(index = 0): Promise<unknown> {
        if (this.pool[index]?.isConnected()) return super.getConnection(index);
        let opening = this.#opening.get(index);
        if (!opening) {
          opening = super.getConnection(index).finally(() => this.#opening.delete(index));
          this.#opening.set(index, opening);
        }
        return opening;
      }
    },
);
