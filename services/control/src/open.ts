/** Opens the parts of control, in the order of their dependencies, and composes the API of its areas. Tests open the same parts. */
import path from 'node:path';
import { openConfigEditor } from '@tailrace/config';
import { History } from '@tailrace/history';
import { noRegistry, openRegistry } from '@tailrace/registry';
import type { Kafka } from '@tailrace/kafka';
import { defineService, listen, type ServiceContext, type SettingsOf } from '@tailrace/service';
import { requireTopics, topicNames } from '@tailrace/topology';
import { Transforms } from '@tailrace/transform';
import { createAddressPolicy } from '@tailrace/webhook';
import type { FastifyInstance } from 'fastify';
import { guardRequests } from './access/guard.ts';
import { tokenRoutes } from './access/routes.ts';
import { Places } from './access/places.ts';
import { operationsWithPlaces } from './access/table.ts';
import { openAudiences } from './audiences/index.ts';
import { audiencePaths, audienceRoutes } from './audiences/routes.ts';
import { auditChanges } from './audit/changes.ts';
import { currentRequest } from './audit/context.ts';
import { auditRoutes } from './audit/routes.ts';
import { auditRequests } from './audit/trail.ts';
import { CallFeed } from './calls/feed.ts';
import { callRoutes } from './calls/routes.ts';
import { CopyFeed } from './copies/feed.ts';
import { copyRoutes } from './copies/routes.ts';
import { removeExpiredSecrets } from './configuration/destinations/expired-secrets.ts';
import { transformTestRoutes } from './configuration/destinations/transform-test-routes.ts';
import { TransformTrials } from './configuration/destinations/transform-trials.ts';
import { filterTestRoutes } from './configuration/destinations/filter-test-routes.ts';
import { testEventRoutes } from './configuration/destinations/test-event-routes.ts';
import { serveKeySet } from './configuration/destinations/key-set.ts';
import { configurationRoutes } from './configuration/routes.ts';
import { serveConsole } from './console/routes.ts';
import { openDeletions } from './deletions/index.ts';
import { deletionPaths, deletionRoutes } from './deletions/routes.ts';
import { serveDocument, serveReference } from './document/reference.ts';
import { healthRoutes } from './health/routes.ts';
import { eventCallRoute } from './history/event-call-route.ts';
import { historyRoutes } from './history/routes.ts';
import { Streams } from './streams/streams.ts';
import { Summaries } from './history/summaries.ts';
import { createUpToDate } from './http/current.ts';
import { Exports } from './exports/export.ts';
import { closeApi, createServer } from './http/server.ts';
import { openIdempotency } from './idempotency/index.ts';
import { openIssueMarks } from './issues/marks.ts';
import { issuePaths, issueRoutes } from './issues/routes.ts';
import { countResponses, createHistoryMetrics } from './metrics.ts';
import { Notifier, type NotifierPace } from './notifications/notifier.ts';
import { notificationRoutes } from './notifications/routes.ts';
import { createMessenger } from './notifications/send.ts';
import { ToldState } from './notifications/told.ts';
import { openOperations, type OperationsPace } from './operations/index.ts';
import { StoredOutages } from './outages/stored.ts';
import { OutageWatch, type OutagePace } from './outages/watch.ts';
import { createRecordReader } from './records/reader.ts';
import { deadLetterRoutes } from './replays/dead-letter-routes.ts';
import { recallPaths, recallRoutes } from './replays/recall-routes.ts';
import { openRecalls } from './replays/recalls.ts';
import { oldestAt } from './replays/events/oldest.ts';
import { replayRoutes } from './replays/replay-routes.ts';
import { openReplays } from './replays/replays.ts';
import { resendRoutes } from './replays/resend-routes.ts';
import { readCookie } from './session/cookie.ts';
import { openEndedSessions } from './session/ended.ts';
import { sessionRoutes } from './session/routes.ts';
import { createSessionSeal } from './session/seal.ts';
import { createSessions } from './session/sessions.ts';
import { settings } from './settings.ts';
import { createSuppressions } from './suppressions/index.ts';
import { suppressionRoutes } from './suppressions/routes.ts';
import { openSuppressionStore } from './suppressions/store.ts';
import { userRoutes } from './users/routes.ts';

export const control = defineService({
  name: 'control',
  settings,
  async open(service) {
    const { server } = await openControl(service);
    return { port: await listen(server.server, service.settings, 'TAILRACE_CONTROL_PORT') };
  },
});

/** Changes for tests. */
export interface ControlChanges {
  readonly maxSuppressions?: number;
  /** Replaces what the history is read with. */
  readonly historyKafka?: (kafka: Kafka) => Kafka;
  /** Replaces what the configuration is changed with. */
  readonly configKafka?: (kafka: Kafka) => Kafka;
  /** How long a change of the configuration is tried. */
  readonly changeGivesUpAfterMs?: number;
  /** How often operational events are looked for, and how long dead letters are counted together. */
  readonly operations?: OperationsPace;
  /** How often is looked for destinations that have failed for their `disableAfter`. */
  readonly outages?: OutagePace;
  /** How often notifications are sent. */
  readonly notifications?: NotifierPace;
  /** PEM of certificate authorities to trust beside those that Node trusts, for notifications. */
  readonly authorities?: readonly string[];
}

export interface OpenControl {
  readonly kafka: Kafka;
  readonly history: History;
  /** Does not listen yet. */
  readonly server: FastifyInstance;
}

export async function openControl(
  service: ServiceContext<SettingsOf<typeof settings>>,
  changes: ControlChanges = {},
): Promise<OpenControl> {
  const { settings, log, metrics, signal } = service;
  const { maxSuppressions, changeGivesUpAfterMs, historyKafka = same, configKafka = same } = changes;
  const { prefix, owner } = settings.topics;
  const names = topicNames(prefix);
  const folder = (part: string): string => path.join(settings.dataDir, part);
  /** Opens a part once Kafka is available, and closes it with the service. */
  const open = async <Part extends { close(): Promise<void> }>(
    what: string,
    closedAs: string,
    openPart: () => Promise<Part>,
  ): Promise<Part> => {
    const part = await service.whenAvailable(what, openPart);
    service.onClose(closedAs, () => part.close());
    return part;
  };

  const kafka = service.openKafka(settings.kafka);
  await service.whenAvailable('its topics', async () => {
    const { config, audiences, audiencesSyncs, deletions, suppressions, destinationsHealth } = names;
    const { recalls, replays, deliveriesReplay, audit, idempotency, sessions } = names;
    const health = [suppressions, destinationsHealth, recalls, replays, deliveriesReplay];
    const needed = [config, audiences, audiencesSyncs, deletions, ...health, audit, idempotency, sessions];
    requireTopics(await kafka.listTopics(), needed);
  });
  const config = await open('the configuration', 'configuration', () =>
    openConfigEditor(configKafka(kafka), names.config, log, {
      secretKeys: settings.secretKeys,
      withoutKey: 'refuse',
      beforeWrite: auditChanges(names.audit),
      requestId: () => currentRequest()?.idempotency?.id,
      giveUpAfterMs: changeGivesUpAfterMs,
      owner,
    }),
  );
  // Control also starts where Kafka accepts no changes. The first one that it accepts marks the topics too.
  config.claim().catch((error: unknown) => log.warn({ err: error }, 'topics not marked with their owner'));
  metrics.gauge('tailrace_config_age_seconds', () => config.ageMs / 1_000);
  const expiredSecrets = removeExpiredSecrets({ config, log });
  service.onClose('previous secrets', () => expiredSecrets.close());

  const history = new History({
    kafka: historyKafka(kafka),
    names,
    deliveryGroup: `${prefix}delivery`,
    log,
    limits: settings.history,
    folder: folder('history'),
  });
  service.onClose('history', () => history.close());
  createHistoryMetrics(metrics, history);

  const users = await open('the suppressed users', 'suppressed users', () =>
    openSuppressionStore({ kafka, names, log, folder: folder('suppressions'), maxUsers: maxSuppressions }),
  );
  const { audienceRate: ratePerSecond } = settings;
  const audiences = await open('the audiences', 'audience syncs', () =>
    openAudiences({ kafka, names, config, users, folder: folder('audiences'), ratePerSecond, log }),
  );
  const deletions = await open('the deletion requests', 'deletion requests', () =>
    openDeletions({ kafka, names, config, log, suppressions: users, audiences: () => audiences.keys() }),
  );
  const suppressions = createSuppressions(names, users, (work) => deletions.write(work));

  const records = createRecordReader(kafka);
  const idempotency = await open('the idempotency keys', 'idempotency keys', () =>
    openIdempotency({ kafka, records, topic: names.idempotency, log, config }),
  );
  const endedSessions = await open('the ended sessions', 'ended sessions', () =>
    openEndedSessions(kafka, names.sessions),
  );
  const seal = createSessionSeal(settings.secretKeys, log);
  const recalls = await open('the recalls', 'recalls', () => openRecalls(kafka, names));
  const registry = settings.registry && openRegistry(settings.registry, log);
  service.onClose('schema registry', () => {
    registry?.close();
  });
  const routerGroup = `${prefix}router`;
  const frames = registry ?? noRegistry;
  const transforms = new Transforms({ threads: 1 });
  service.onClose('transforms', () => transforms.close());
  const events = { kafka, names, config, frames, users, history, routerGroup, transforms };
  const replays = await open('the replays', 'replays', () => openReplays({ kafka, names, log, events }));
  const marks = await open('the issues', 'issues', () =>
    openIssueMarks(kafka, names.destinationsHealth, config),
  );
  const { failingAfterMs, timeoutMs, allowedNetworks, proxy, consoleUrl } = settings;
  const told = new ToldState();
  const outages = new StoredOutages();
  const operations = await open('the operational events', 'operational events', () => {
    const beside = { told, outages };
    return openOperations({
      kafka,
      names,
      config,
      history,
      log,
      failingAfterMs,
      beside,
      pace: changes.operations,
    });
  });
  const outageWatch = new OutageWatch({
    topic: names.destinationsHealth,
    config,
    history,
    operations,
    stored: outages,
    report: { log, metrics },
    pace: changes.outages,
  });
  service.onClose('outages', () => outageWatch.close());
  const sending = { timeoutMs, policy: createAddressPolicy(allowedNetworks), proxy };
  const messenger = createMessenger({ ...sending, authorities: changes.authorities, consoleUrl });
  service.onClose('connections of notifications', () => messenger.close());
  const notifier = new Notifier({
    topic: names.destinationsHealth,
    config,
    history,
    operations,
    told,
    messenger,
    report: { log, metrics },
    pace: changes.notifications,
  });
  service.onClose('notifications', () => notifier.close());

  const isUpToDate = createUpToDate({
    config,
    sessions: endedSessions,
    byRoute: [
      [recallPaths, recalls],
      [deletionPaths, deletions],
      [audiencePaths, audiences],
      [issuePaths, marks],
    ],
  });
  const server = createServer(settings.trustedProxies, log);
  const { app } = server;
  countResponses(app, metrics);
  await serveReference(app, operationsWithPlaces);
  server.answerUnknownRoutes();
  serveConsole(app);
  serveDocument(app);
  serveKeySet(app, config);
  await app.register(
    (api, _options, done) => {
      // Before the token is looked up: another instance may just have created or revoked it, or ended the session.
      api.addHook('onRequest', async (request) => {
        const hasSession = readCookie(request) !== undefined;
        if (!hasSession && request.headers.authorization === undefined) return;
        await isUpToDate(request.routeOptions.url ?? '', hasSession);
      });
      const { access: tokens, requestsPerSecond } = settings;
      const sessions = createSessions(api, seal, endedSessions);
      guardRequests(api, { tokens, config, sessions, requestsPerSecond });
      auditRequests(api, kafka, names.audit, log);
      idempotency.addTo(api);

      // In the order of the OpenAPI document.
      const { ingestUrl, ingestPort } = settings;
      sessionRoutes(api, { config, seal, ended: endedSessions, ingestUrl, ingestPort });
      const trials = new TransformTrials(transforms);
      configurationRoutes(api, { config, recalls, log, trials });
      recallRoutes(api, recalls, config);
      testEventRoutes(api, { config, transforms, sending });
      filterTestRoutes(api, config);
      transformTestRoutes(api, config, trials);
      const exports = new Exports();
      healthRoutes(api, { config, history, outages, exports });
      issueRoutes(api, { config, history, marks, exports });
      const streams = new Streams(history, signal);
      const searches = new Places('searches');
      const summaries = new Summaries();
      const read = { kafka, names, config, records, history, streams, exports, searches, signal };
      historyRoutes(api, { ...read, routerGroup });
      eventCallRoute(api, { records, history, frames, topic: names.events });
      callRoutes(api, { streams, config, feed: new CallFeed({ kafka, names, config, log, routerGroup }) });
      copyRoutes(api, { streams, config, feed: new CopyFeed({ kafka, names, config, users }) });
      deadLetterRoutes(api, { records, topic: names.deliveriesDead, history, exports, summaries });
      const oldestEventAt = (topic: string): Promise<number | undefined> => oldestAt(kafka, topic);
      const endsOf = (topic: string) => kafka.ends(topic);
      replayRoutes(api, { replays, config, history, names, oldestEventAt, endsOf });
      resendRoutes(api, { kafka, names, config, records, history, replays, transforms });
      deletionRoutes(api, { deletions, history, summaries });
      suppressionRoutes(api, suppressions, exports);
      userRoutes(api, { kafka, names, config, audiences, users, searches, signal });
      audienceRoutes(api, audiences, config, exports);
      notificationRoutes(api, { config, messenger, notifier });
      tokenRoutes(api, config);
      auditRoutes(api, { kafka, topic: names.audit, signal, exports });
      done();
    },
    { prefix: '/v1' },
  );
  await app.ready();
  service.onClose('HTTP server', () => closeApi(app));
  return { kafka, history, server: app };
}

const same = (kafka: Kafka): Kafka => kafka;
