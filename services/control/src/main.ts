/** The control service: the management API. */
import path from 'node:path';
import { openConfigEditor } from '@tailrace/config';
import { connectKafka } from '@tailrace/kafka';
import { countUnreadable, listen, runService } from '@tailrace/service';
import { topicNames } from '@tailrace/topics';
import { openAudiences } from './audiences/index.ts';
import { openDeletions } from './deletions/index.ts';
import { openHistory } from './history/index.ts';
import { closeApi, createServer } from './http/server.ts';
import { createHistoryMetrics } from './metrics.ts';
import { openRecalls } from './replays/recalls.ts';
import { settings } from './settings.ts';

await runService({ name: 'control', env: process.env, settings }, async (service) => {
  const { settings, log, metrics, signal } = service;
  const names = topicNames(settings.topics.prefix);

  const kafka = connectKafka(settings.kafka, log, countUnreadable(metrics));
  service.onClose('Kafka', () => kafka.close());
  service.health.add('kafka', () => kafka.ping());

  const config = await service.whenAvailable('the configuration', () =>
    openConfigEditor(kafka, names.config, log, { secretKeys: settings.secretKeys, withoutKey: 'refuse' }),
  );
  service.onClose('configuration', () => config.close());

  const history = openHistory({
    ...{ kafka, names, log, limits: settings.history },
    folder: path.join(settings.dataDir, 'history'),
  });
  service.onClose('history', () => history.close());
  createHistoryMetrics(metrics, history);

  const folder = path.join(settings.dataDir, 'audiences');
  const ratePerSecond = settings.audienceRate;
  const audiences = await service.whenAvailable('the audiences', () =>
    openAudiences({ kafka, names, config, folder, ratePerSecond, log }),
  );
  service.onClose('audience syncs', () => audiences.close());
  const deletions = await service.whenAvailable('the deletion requests', () =>
    openDeletions({ kafka, names, config, log }),
  );
  service.onClose('deletion requests', () => deletions.close());

  const recalls = await service.whenAvailable('the recalls', () => openRecalls(kafka, names));
  service.onClose('recalls', () => recalls.close());

  const server = await createServer({
    ...{ settings, log, metrics, kafka, names, signal },
    ...{ config, history, audiences, deletions, recalls },
  });
  service.onClose('HTTP server', () => closeApi(server));
  return { port: await listen(server.server, settings.port, 'TAILRACE_CONTROL_PORT') };
});
