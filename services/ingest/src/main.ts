/** Ingest: takes tracking calls over HTTP, and answers once Kafka has them. */
import { openConfig } from '@tailrace/config';
import { connectKafka } from '@tailrace/kafka';
import { listen, runService } from '@tailrace/service';
import { topicNames } from '@tailrace/topics';
import { createAcceptor } from './accept.ts';
import { createIntake } from './body.ts';
import { settings } from './config.ts';
import { ingestObserver } from './observe.ts';
import { createRateLimits } from './rate-limit.ts';
import { ingestRoutes } from './routes.ts';
import { createServer } from './server.ts';
import { createSourceFinder } from './write-key.ts';

await runService({ name: 'ingest', env: process.env, settings }, async (service) => {
  const { settings, log, metrics } = service;
  const names = topicNames(settings.topicPrefix);

  const kafka = connectKafka(settings.kafka, log);
  service.onClose('Kafka', () => kafka.close());
  service.health.add('kafka', () => kafka.ping());

  const config = await service.whenAvailable('the configuration', () => openConfig(kafka, names.config, log));

  const publisher = kafka.publisher({
    giveUpAfterMs: settings.acknowledgeWithinMs,
    maxBufferedBytes: settings.maxBufferedBytes,
  });
  const observer = ingestObserver(metrics, publisher);
  const server = createServer({
    routes: ingestRoutes({
      findSource: createSourceFinder(config),
      acceptor: createAcceptor({ publisher, names, rateLimits: createRateLimits(), observer }),
      intake: createIntake(settings.maxBufferedBytes),
      observer,
      publicUrl: settings.publicUrl,
    }),
    observer,
    log,
    requestTimeoutMs: settings.requestTimeoutMs,
    maxConnections: settings.maxConnections,
  });
  service.onClose('HTTP server', () => server.close());
  return { port: await listen(server.http, settings.port, 'TAILRACE_INGEST_PORT') };
});
