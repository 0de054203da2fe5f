/** Ingest: takes tracking calls over HTTP, and answers once Kafka has them. */
import { openConfig } from '@tailrace/config';
import { connectKafka } from '@tailrace/kafka';
import { countUnreadable, listen, runService } from '@tailrace/service';
import { topicNames } from '@tailrace/topics';
import { createAcceptor } from './accept.ts';
import { settings } from './settings.ts';
import { createMemoryBudget } from './memory.ts';
import { ingestObserver } from './observe.ts';
import { createRateLimits } from './rate-limit.ts';
import { ingestRoutes } from './routes.ts';
import { createServer } from './server.ts';
import { createSourceFinder } from './write-key.ts';

await runService({ name: 'ingest', env: process.env, settings }, async (service) => {
  const { settings, log, metrics } = service;
  const names = topicNames(settings.topicPrefix);

  const kafka = connectKafka(settings.kafka, log, countUnreadable(metrics));
  service.onClose('Kafka', () => kafka.close());
  service.health.add('kafka', () => kafka.ping());

  const config = await service.whenAvailable('the configuration', () => openConfig(kafka, names.config, log));

  const publisher = kafka.publisher({
    giveUpAfterMs: settings.acknowledgeWithinMs,
    maxBufferedBytes: settings.maxBufferedBytes,
  });
  const memory = createMemoryBudget(settings.maxBufferedBytes);
  const observer = ingestObserver(metrics, { publisher, memory });
  const server = createServer({
    routes: ingestRoutes({
      sources: createSourceFinder(config),
      acceptor: createAcceptor({ publisher, names, rateLimits: createRateLimits(), observer }),
      observer,
      publicUrl: settings.publicUrl,
    }),
    observer,
    memory,
    log,
    requestTimeoutMs: settings.requestTimeoutMs,
    maxConnections: settings.maxConnections,
  });
  service.onClose('HTTP server', () => server.close());
  return { port: await listen(server.http, settings.port, 'TAILRACE_INGEST_PORT') };
});
