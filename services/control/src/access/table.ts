/**
 * The scope and the reach of every route: one entry for each operation of the API. docs/threat-model.md lists them all, and
 * `access.test.ts` fails for a route without an entry. Until it has one, a route needs an unlimited `admin` token.
 */
import type { Role } from './authenticate.ts';

/**
 * The use of a route by a token that is limited to sources or destinations:
 *
 * - `open`: everything; the answer belongs to no source and no destination.
 * - `source`, `destination`, `connection`: the ids in the path must be among those of the token; `connection` has both.
 * - `all-deliveries`: as `destination`, for a token that is not limited to sources too: the route counts or changes deliveries
 *   of all of them.
 * - `list`: the handler leaves out what the token does not reach; an id in the query must be among those of the token.
 * - `delivery`, `replay`: the handler answers 404 for one that the token does not reach.
 * - `closed`: nothing; the route is for unlimited tokens.
 */
export type Reach =
  | 'open'
  | 'source'
  | 'destination'
  | 'connection'
  | 'all-deliveries'
  | 'list'
  | 'delivery'
  | 'replay'
  | 'closed';

export interface Access {
  readonly scope: Role;
  readonly reach: Reach;
}

const read = (reach: Reach): Access => ({ scope: 'read', reach });
const write = (reach: Reach): Access => ({ scope: 'write', reach });
const admin = (reach: Reach): Access => ({ scope: 'admin', reach });

/** By `operationId`. */
export const access: Readonly<Record<string, Access>> = {
  createSession: read('open'),
  getSession: read('open'),
  deleteSession: read('open'),

  listCatalog: read('open'),
  getCatalogEntry: read('open'),

  listSources: read('list'),
  getSource: read('source'),
  createSource: write('closed'),
  replaceSource: write('source'),
  updateSource: write('source'),
  deleteSource: write('source'),
  addWriteKey: write('source'),
  removeWriteKey: write('source'),
  blockEvent: write('source'),
  unblockEvent: write('source'),
  blockEventInPath: write('source'),
  unblockEventInPath: write('source'),
  listSourceEvents: read('source'),
  getSourceUsage: read('source'),
  streamCalls: read('source'),

  listDestinations: read('list'),
  getDestination: read('destination'),
  listDestinationHealth: read('list'),
  getDestinationHealth: read('all-deliveries'),
  createDestination: write('closed'),
  replaceDestination: write('destination'),
  updateDestination: write('destination'),
  deleteDestination: write('destination'),
  connectSource: write('connection'),
  disconnectSource: write('connection'),
  testDestination: write('destination'),
  testFilter: write('destination'),
  pauseDestination: write('destination'),
  resumeDestination: write('destination'),
  rotateSecret: write('destination'),
  retryDestination: write('all-deliveries'),
  drainDestination: write('all-deliveries'),
  getRecall: read('all-deliveries'),
  recoverDestination: write('all-deliveries'),
  getDestinationStats: read('all-deliveries'),
  getDestinationFailures: read('all-deliveries'),

  getDestinationPending: read('all-deliveries'),
  getOverview: read('closed'),

  listIssues: read('list'),
  updateIssue: write('all-deliveries'),

  listDeliveries: read('list'),
  exportDeliveries: read('list'),
  getDelivery: read('delivery'),
  getDeliveryBody: read('delivery'),
  resendDelivery: write('delivery'),
  listDecisions: read('list'),
  exportDecisions: read('list'),
  getEvent: read('delivery'),
  streamLive: read('open'),
  streamAttempts: read('list'),
  listDeadLetters: read('list'),
  exportDeadLetters: read('list'),
  summariseDeadLetters: read('list'),
  getDeadLetter: read('delivery'),
  startReplay: write('closed'),
  listReplays: read('list'),
  getReplay: read('replay'),
  interruptReplay: write('replay'),

  createDeletion: write('closed'),
  listDeletions: read('closed'),
  getDeletion: read('closed'),
  liftDeletion: write('closed'),
  createSuppressions: write('closed'),
  // A list of ids of users, which a read token sees nowhere.
  listSuppressions: write('closed'),
  getSuppression: read('closed'),
  deleteSuppression: write('closed'),
  listAudiences: read('source'),
  getAudience: read('source'),
  syncAudience: write('source'),
  deleteAudience: write('source'),

  resealSecrets: admin('closed'),
  createToken: admin('closed'),
  listTokens: admin('closed'),
  getToken: admin('closed'),
  revokeToken: admin('closed'),
  listAudit: admin('closed'),
};

/** For an operation without an entry. */
export const unknownAccess: Access = admin('closed');
