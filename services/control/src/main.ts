/** The control service: the management API. */
import path from 'node:path';
import { openConfigEditor } from '@tailrace/config';
import { connectKafka } from '@tailrace/kafka';
import { listen, observeKafka, runService, watchPublishers } from '@tailrace/service';
import { requireTopics, topicNames } from '@tailrace/topics';
import { auditChanges } from './audit/changes.ts';
import { currentRequest } from './audit/context.ts';
import { openAudiences } from './audiences/index.ts';
import { removeExpiredSecrets } from './configuration/destinations/expired-secrets.ts';
import { openDeletions } from './deletions/index.ts';
import { openHistory } from './history/index.ts';
import { closeApi, createServer } from './http/server.ts';
import { createHistoryMetrics } from './metrics.ts';
import { openOperations } from './operations/index.ts';
import { openIdempotency } from './idempotency/index.ts';
import { openRecalls } from './replays/recalls.ts';
import { openReplays } from './replays/replays.ts';
import { createSessionSeal } from './session/seal.ts';
import { settings } from './settings.ts';
import { createSuppressions } from './suppressions/index.ts';
import { openSuppressionStore } from './suppressions/store.ts';

await runService({ name: 'control', env: process.env, settings }, async (service) => {
  const { settings, log, metrics, signal } = service;
  const names = topicNames(settings.topics.prefix);

  const kafka = connectKafka(settings.kafka, log, observeKafka(metrics));
  service.onClose('Kafka', () => kafka.close());
  watchPublishers(metrics, kafka);
  service.health.add('kafka', () => kafka.ping());

  await service.whenAvailable('its topics', async () => {
    const { config, audiences, audiencesSyncs, deletions, suppressions, destinationsHealth } = names;
    const { recalls, replays, deliveriesReplay } = names;
    const needed = [
      ...[config, audiences, audiencesSyncs, deletions, suppressions, destinationsHealth],
      ...[recalls, replays, deliveriesReplay, names.audit, names.idempotency],
    ];
    requireTopics(await kafka.listTopics(), needed);
  });
  const config = await service.whenAvailable('the configuration', () =>
    openConfigEditor(kafka, names.config, log, {
      ...{ secretKeys: settings.secretKeys, withoutKey: 'refuse' },
      beforeWrite: auditChanges(names.audit),
      requestId: () => currentRequest()?.idempotency?.id,
    }),
  );
  service.onClose('configuration', () => config.close());
  metrics.gauge('tailrace_config_age_seconds', () => config.ageMs / 1_000);
  const expiredSecrets = removeExpiredSecrets({ config, log });
  service.onClose('previous secrets', () => expiredSecrets.close());

  const history = openHistory({
    ...{ kafka, names, log, limits: settings.history },
    folder: path.join(settings.dataDir, 'history'),
  });
  service.onClose('history', () => history.close());
  createHistoryMetrics(metrics, history);

  const suppressionStore = await service.whenAvailable('the suppressed users', () =>
    openSuppressionStore({ kafka, names, folder: path.join(settings.dataDir, 'suppressions'), log }),
  );
  service.onClose('suppressed users', () => suppressionStore.close());

  const folder = path.join(settings.dataDir, 'audiences');
  const ratePerSecond = settings.audienceRate;
  const audiences = await service.whenAvailable('the audiences', () =>
    openAudiences({ kafka, names, config, users: suppressionStore, folder, ratePerSecond, log }),
  );
  service.onClose('audience syncs', () => audiences.close());
  const deletions = await service.whenAvailable('the deletion requests', () =>
    openDeletions({
      ...{ kafka, names, config, log, suppressions: suppressionStore },
      audiences: () => audiences.keys(),
    }),
  );
  service.onClose('deletion requests', () => deletions.close());

  const suppressions = createSuppressions(names, suppressionStore, deletions);

  const idempotency = await service.whenAvailable('the idempotency keys', () =>
    openIdempotency({ kafka, topic: names.idempotency, log, config }),
  );
  service.onClose('idempotency keys', () => idempotency.close());
  const recalls = await service.whenAvailable('the recalls', () => openRecalls(kafka, names));
  service.onClose('recalls', () => recalls.close());
  const replays = await service.whenAvailable('the replays', () => openReplays({ kafka, names, log }));
  service.onClose('replays', () => replays.close());

  const { failingAfterMs } = settings;
  const operations = await service.whenAvailable('the operational events', () =>
    openOperations({ kafka, names, config, history, log, failingAfterMs }),
  );
  service.onClose('operational events', () => operations.close());

  const server = await createServer({
    ...{ settings, log, metrics, kafka, names, signal },
    ...{ config, history, audiences, deletions, suppressions, recalls, replays, idempotency },
    sessions: createSessionSeal(settings.secretKeys, log),
  });
  service.onClose('HTTP server', () => closeApi(server));
  return { port: await listen(server.server, settings.port, 'TAILRACE_CONTROL_PORT') };
});
