/**
 * Defect: the library joins a group on the connection on which it commits. A broker handles the requests of a connection one at a time, and
 * answers a join when all members have joined, which takes seconds after a member was killed. Commits wait for it, although
 * Kafka accepts them until then.
 *
 * Upstream: no issue found.
 *
 * Patch: requests to join have a connection of their own, which is opened on first use.
 */
import { libraryModule, replacing, type LibraryClass } from '../apply.ts';
import type { ConnectionPool, MadeRequest } from './connection-pool.ts';

type ConnectionClass = new (options: unknown) => { isConnected(): boolean };

const joinGroup = 11;
const syncGroup = 14;

export const joinConnection = replacing(
  'network/connectionPool',
  (Original: LibraryClass<ConnectionPool>): LibraryClass<ConnectionPool> => {
    const Connection = libraryModule('network/connection') as ConnectionClass;
    return class PoolWithJoins extends Original {
      readonly #joining: number;

      constructor(options: unknown) {
        super(options);
        this.#joining = this.pool.push(new Connection(options)) - 1;
      }

      override getConnectionByRequest(request: MadeRequest): Promise<unknown> {
        const { apiKey } = request.request;
        const isJoin = apiKey === joinGroup || apiKey === syncGroup;
        return isJoin ? this.getConnection(this.#joining) : super.getConnectionByRequest(request);
      }
    };
  },
);
