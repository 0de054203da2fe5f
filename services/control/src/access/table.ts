/**
 * The scope and the reach of every route, and what it takes of what all share: one entry for each operation of the API. docs/threat-model.md lists them all, and
 * `access.test.ts` fails for a route without an entry. Until it has one, a route needs an unlimited `admin` token.
 */
import type { Role } from './authenticate.ts';
import { shared, type SharedName } from './shared.ts';

/**
 * The use of a route by a token that is limited to sources or destinations:
 *
 * - `open`: everything; the answer belongs to no source and no destination.
 * - `source`, `destination`, `connection`: the ids in the path must be among those of the token; `connection` has both. With `source`
 *   also a destination that the query names.
 * - `all-deliveries`: as `destination`, for a token that is not limited to sources too: the route counts or changes deliveries
 *   of all of them.
 * - `list`: the handler leaves out what the token does not reach; an id in the query must be among those of the token.
 * - `delivery`, `replay`: the handler answers 404 for one that the token does not reach, and starts none beyond its limits.
 * - `closed`: nothing; the route is for unlimited tokens.
 */
type Reach =
  | 'open'
  | 'source'
  | 'destination'
  | 'connection'
  | 'all-deliveries'
  | 'list'
  | 'delivery'
  | 'replay'
  | 'closed';

/** An operation that shares nothing is answered from memory, or from the history by a query of bounded work, and leaves nothing behind. */
type Shares = readonly [SharedName, ...SharedName[]] | readonly ['nothing'];

export interface Access {
  readonly scope: Role;
  readonly reach: Reach;
  readonly shares: Shares;
}

const entryOf =
  (scope: Role) =>
  (reach: Reach, ...shares: Shares): Access => ({ scope, reach, shares });
const read = entryOf('read');
const write = entryOf('write');
const admin = entryOf('admin');

/** By `operationId`. */
export const access: Readonly<Record<string, Access>> = {
  createSession: read('open', 'nothing'),
  getSession: read('open', 'nothing'),
  deleteSession: read('open', 'endedSessions'),

  listCatalog: read('open', 'nothing'),
  getCatalogEntry: read('open', 'nothing'),

  listSources: read('list', 'nothing'),
  getSource: read('source', 'nothing'),
  createSource: write('closed', 'changes'),
  replaceSource: write('source', 'changes'),
  updateSource: write('source', 'changes'),
  deleteSource: write('source', 'changes'),
  addWriteKey: write('source', 'changes'),
  removeWriteKey: write('source', 'changes'),
  blockEvent: write('source', 'changes'),
  unblockEvent: write('source', 'changes'),
  blockEventInPath: write('source', 'changes'),
  unblockEventInPath: write('source', 'changes'),
  listSourceEvents: read('source', 'nothing'),
  getSourceUsage: read('source', 'nothing'),
  streamCalls: read('source', 'streams', 'streamBytes', 'calls'),

  listDestinations: read('list', 'nothing'),
  getDestination: read('destination', 'nothing'),
  listDestinationHealth: read('list', 'nothing'),
  exportDestinationHealth: read('list', 'exports'),
  getDestinationHealth: read('all-deliveries', 'nothing'),
  createDestination: write('closed', 'changes', 'transformTests'),
  replaceDestination: write('destination', 'changes', 'transformTests'),
  updateDestination: write('destination', 'changes', 'transformTests'),
  deleteDestination: write('destination', 'changes'),
  connectSource: write('connection', 'changes'),
  disconnectSource: write('connection', 'changes'),
  testDestination: write('destination', 'testEvents'),
  testFilter: write('destination', 'nothing'),
  testTransform: write('destination', 'transformTests'),
  streamCopies: write('destination', 'streams', 'streamBytes', 'copies'),
  pauseDestination: write('destination', 'changes'),
  resumeDestination: write('destination', 'changes'),
  rotateSecret: write('destination', 'changes'),
  rotateSigningKey: write('destination', 'changes'),
  retryDestination: write('all-deliveries', 'recalls'),
  drainDestination: write('all-deliveries', 'recalls'),
  getRecall: read('all-deliveries', 'nothing'),
  recoverDestination: write('all-deliveries', 'replays', 'endedReplays'),
  getDestinationStats: read('all-deliveries', 'nothing'),
  getDestinationFailures: read('all-deliveries', 'nothing'),

  getDestinationPending: read('all-deliveries', 'nothing'),
  getOverview: read('closed', 'nothing'),

  listIssues: read('list', 'nothing'),
  exportIssues: read('list', 'exports'),
  updateIssue: write('all-deliveries', 'issueMarks'),

  listDeliveries: read('list', 'nothing'),
  exportDeliveries: read('list', 'exports'),
  getDelivery: read('delivery', 'nothing'),
  getDeliveryBody: read('delivery', 'records'),
  resendDelivery: write('delivery', 'records'),
  listDecisions: read('list', 'nothing'),
  exportDecisions: read('list', 'exports'),
  getEvent: read('delivery', 'searches'),
  getEventCall: write('delivery', 'records'),
  streamLive: read('open', 'streams', 'streamBytes'),
  streamAttempts: read('list', 'streams', 'streamBytes'),
  listDeadLetters: read('list', 'nothing'),
  exportDeadLetters: read('list', 'exports'),
  summariseDeadLetters: read('list', 'summaries'),
  getDeadLetter: read('delivery', 'records'),
  startReplay: write('replay', 'replays', 'endedReplays'),
  listReplays: read('list', 'nothing'),
  getReplay: read('replay', 'nothing'),
  interruptReplay: write('replay', 'nothing'),
  pauseReplay: write('replay', 'nothing'),
  resumeReplay: write('replay', 'nothing'),

  createDeletion: write('closed', 'deletions', 'suppressions', 'summaries'),
  listDeletions: read('closed', 'nothing'),
  getDeletion: read('closed', 'summaries'),
  liftDeletion: write('closed', 'deletions', 'summaries'),
  createSuppressions: write('closed', 'suppressions'),
  // A list of ids of users, which a read token sees nowhere.
  listSuppressions: write('closed', 'nothing'),
  exportSuppressions: write('closed', 'exports'),
  getSuppression: read('closed', 'nothing'),
  deleteSuppression: write('closed', 'suppressions'),
  listUserCalls: read('closed', 'searches'),
  listUserAudiences: read('closed', 'searches'),
  listAudiences: read('source', 'nothing'),
  getAudience: read('source', 'nothing'),
  exportMembers: write('source', 'audienceSyncs', 'exports'),
  syncAudience: write('source', 'audienceSyncs', 'uploadBytes', 'audiences'),
  changeAudience: write('source', 'audienceSyncs', 'uploadBytes', 'audiences'),
  deleteAudience: write('source', 'audienceSyncs', 'uploadBytes'),

  listNotifications: read('closed', 'nothing'),
  getNotification: read('closed', 'nothing'),
  createNotification: write('closed', 'changes'),
  replaceNotification: write('closed', 'changes'),
  updateNotification: write('closed', 'changes'),
  deleteNotification: write('closed', 'changes'),
  testNotification: write('closed', 'notificationTests'),
  listNotificationStatus: read('closed', 'nothing'),

  resealSecrets: admin('closed', 'changes'),
  createToken: admin('closed', 'changes'),
  listTokens: admin('closed', 'nothing'),
  getToken: admin('closed', 'nothing'),
  revokeToken: admin('closed', 'changes'),
  listAudit: admin('closed', 'auditReadings'),
  exportAudit: admin('closed', 'auditReadings', 'exports'),
};

/** For an operation without an entry. */
export const unknownAccess: Access = admin('closed', 'nothing');

export const operationsWithPlaces: ReadonlySet<string> = new Set(
  Object.keys(access).filter((operation) =>
    access[operation]?.shares.some((name) => name !== 'nothing' && shared[name].kind === 'places'),
  ),
);
