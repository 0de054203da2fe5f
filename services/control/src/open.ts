/** Opens the parts of control, in the order of their dependencies. Tests open the same parts. */
import path from 'node:path';
import { openConfigEditor } from '@tailrace/config';
import type { Kafka } from '@tailrace/kafka';
import { defineService, listen, type ServiceContext, type SettingsOf } from '@tailrace/service';
import { requireTopics, topicNames } from '@tailrace/topics';
import { auditChanges } from './audit/changes.ts';
import { currentRequest } from './audit/context.ts';
import { openAudiences } from './audiences/index.ts';
import { removeExpiredSecrets } from './configuration/destinations/expired-secrets.ts';
import { openDeletions } from './deletions/index.ts';
import { openHistory, type History } from './history/index.ts';
import { Streams } from './history/streams.ts';
import { createRecordReader } from './http/body.ts';
import { closeApi, createServer } from './http/server.ts';
import { createHistoryMetrics } from './metrics.ts';
import { openOperations, type OperationsOptions } from './operations/index.ts';
import { openIdempotency } from './idempotency/index.ts';
import { openRecalls } from './replays/recalls.ts';
import { openReplays } from './replays/replays.ts';
import { openEndedSessions } from './session/ended.ts';
import { createSessionSeal } from './session/seal.ts';
import { settings } from './settings.ts';
import { createSuppressions } from './suppressions/index.ts';
import { openSuppressionStore } from './suppressions/store.ts';

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
  readonly operations?: Pick<OperationsOptions, 'everyMs' | 'deadSpanMs' | 'onTurn'>;
}

export interface OpenControl {
  readonly kafka: Kafka;
  readonly history: History;
  /** Does not listen yet. */
  readonly server: Awaited<ReturnType<typeof createServer>>;
}

export async function openControl(
  service: ServiceContext<SettingsOf<typeof settings>>,
  changes: ControlChanges = {},
): Promise<OpenControl> {
  const { settings, log, metrics, signal } = service;
  const { maxSuppressions, changeGivesUpAfterMs, historyKafka = same, configKafka = same } = changes;
  const names = topicNames(settings.topics.prefix);

  const kafka = service.openKafka(settings.kafka);

  await service.whenAvailable('its topics', async () => {
    const { config, audiences, audiencesSyncs, deletions, suppressions, destinationsHealth } = names;
    const { recalls, replays, deliveriesReplay } = names;
    const needed = [
      config,
      audiences,
      audiencesSyncs,
      deletions,
      suppressions,
      destinationsHealth,
      recalls,
      replays,
      deliveriesReplay,
      names.audit,
      names.idempotency,
      names.sessions,
    ];
    requireTopics(await kafka.listTopics(), needed);
  });
  const config = await service.whenAvailable('the configuration', () =>
    openConfigEditor(configKafka(kafka), names.config, log, {
      secretKeys: settings.secretKeys,
      withoutKey: 'refuse',
      beforeWrite: auditChanges(names.audit),
      requestId: () => currentRequest()?.idempotency?.id,
      giveUpAfterMs: changeGivesUpAfterMs,
    }),
  );
  service.onClose('configuration', () => config.close());
  metrics.gauge('tailrace_config_age_seconds', () => config.ageMs / 1_000);
  const expiredSecrets = removeExpiredSecrets({ config, log });
  service.onClose('previous secrets', () => expiredSecrets.close());

  const folder = (part: string): string => path.join(settings.dataDir, part);
  const history = openHistory({
    kafka: historyKafka(kafka),
    names,
    deliveryGroup: `${settings.topics.prefix}delivery`,
    log,
    limits: settings.history,
    folder: folder('history'),
  });
  service.onClose('history', () => history.close());
  createHistoryMetrics(metrics, history);

  const suppressionStore = await service.whenAvailable('the suppressed users', () =>
    openSuppressionStore({ kafka, names, log, folder: folder('suppressions'), maxUsers: maxSuppressions }),
  );
  service.onClose('suppressed users', () => suppressionStore.close());

  const audiences = await service.whenAvailable('the audiences', () =>
    openAudiences({
      kafka,
      names,
      config,
      users: suppressionStore,
      folder: folder('audiences'),
      ratePerSecond: settings.audienceRate,
      log,
    }),
  );
  service.onClose('audience syncs', () => audiences.close());
  const deletions = await service.whenAvailable('the deletion requests', () =>
    openDeletions({
      kafka,
      names,
      config,
      log,
      suppressions: suppressionStore,
      audiences: () => audiences.keys(),
    }),
  );
  service.onClose('deletion requests', () => deletions.close());

  const suppressions = createSuppressions(names, suppressionStore, deletions);

  const records = createRecordReader(kafka);
  const idempotency = await service.whenAvailable('the idempotency keys', () =>
    openIdempotency({ kafka, records, topic: names.idempotency, log, config }),
  );
  service.onClose('idempotency keys', () => idempotency.close());
  const endedSessions = await service.whenAvailable('the ended sessions', () =>
    openEndedSessions(kafka, names.sessions),
  );
  service.onClose('ended sessions', () => endedSessions.close());
  const recalls = await service.whenAvailable('the recalls', () => openRecalls(kafka, names));
  service.onClose('recalls', () => recalls.close());
  const replays = await service.whenAvailable('the replays', () => openReplays({ kafka, names, log }));
  service.onClose('replays', () => replays.close());

  const { failingAfterMs } = settings;
  const operations = await service.whenAvailable('the operational events', () =>
    openOperations({ kafka, names, config, history, log, failingAfterMs, ...changes.operations }),
  );
  service.onClose('operational events', () => operations.close());

  const server = await createServer({
    settings,
    log,
    metrics,
    kafka,
    names,
    signal,
    config,
    records,
    history,
    streams: new Streams(history, signal),
    audiences,
    deletions,
    suppressions,
    recalls,
    replays,
    idempotency,
    sessions: createSessionSeal(settings.secretKeys, log),
    endedSessions,
  });
  service.onClose('HTTP server', () => closeApi(server));
  return { kafka, history, server };
}

const same = (kafka: Kafka): Kafka => kafka;
