/**
 * kafkajs with the patches of this package. All other files import the library from here. patches/apply.ts says how modules are
 * replaced, and each patch what its defect is.
 */
import { loadPatched } from './patches/apply.ts';
import { clock } from './patches/clock.ts';
import { authentication } from './patches/connections/authentication.ts';
import { connectOnce } from './patches/connections/connect-once.ts';
import { hungBroker } from './patches/connections/hung-broker.ts';
import { joinConnection } from './patches/connections/join-connection.ts';
import { observedRequests } from './patches/connections/observed-requests.ts';
import { oneSocket } from './patches/connections/one-socket.ts';
import { refusedPermissions, requestContents } from './patches/connections/refused-permissions.ts';
import { removedBroker } from './patches/connections/removed-broker.ts';
import { requestFrame } from './patches/connections/request-frame.ts';
import { requestQueue } from './patches/connections/request-queue.ts';
import { requestVersions } from './patches/connections/request-versions.ts';
import { adminRequests } from './patches/reading/admin-requests.ts';
import { fetchRequest } from './patches/reading/fetch-request.ts';
import { fetchResponse } from './patches/reading/fetch-response.ts';
import { groupFetch } from './patches/reading/group-fetch.ts';
import { memberConsumer, membership } from './patches/reading/membership.ts';
import { metadata } from './patches/reading/metadata.ts';
import { offsetCheck } from './patches/reading/offset-check.ts';
import { stoppedFetch } from './patches/reading/stopped-fetch.ts';
import { messagesByPartition } from './patches/writing/messages-by-partition.ts';
import { produceRequest } from './patches/writing/produce-request.ts';
import { produceResponse } from './patches/writing/produce-response.ts';

/** Each before the modules that load what it replaces. */
const kafkajs = loadPatched([
  clock,
  metadata,
  fetchRequest,
  fetchResponse,
  produceRequest,
  produceResponse,
  messagesByPartition,
  requestFrame,
  requestContents,
  requestVersions,
  authentication,
  requestQueue,
  oneSocket,
  observedRequests,
  connectOnce,
  joinConnection,
  ...hungBroker,
  removedBroker,
  refusedPermissions,
  offsetCheck,
  ...membership,
  stoppedFetch,
  ...groupFetch,
  memberConsumer,
  adminRequests,
]);

export default kafkajs;
