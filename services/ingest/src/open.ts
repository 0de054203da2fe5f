/** Ingest: accepts tracking calls over HTTP, and responds when Kafka has acknowledged them. */
import { openConfig } from '@tailrace/config';
import { defineService, lingerMs, listen, trustProxies } from '@tailrace/service';
import { requireTopics, topicNames } from '@tailrace/topology';
import { createAcceptor } from './calls/accept.ts';
import { settings } from './settings.ts';
import { createMemoryBudget } from './memory/budget.ts';
import { createIngestMetrics } from './metrics.ts';
import { createRateLimits } from './calls/rate-limit.ts';
import { createRefusedCalls } from './calls/refused.ts';
import { ingestRoutes } from './routes/all.ts';
import { createServer } from './http/server.ts';
import { createSourceFinder } from './calls/write-key.ts';

export const ingest = defineService({
  name: 'ingest',
  settings,
  async open(service) {
    const { settings, log, metrics } = service;
    const names = topicNames(settings.topicPrefix);

    const kafka = service.openKafka(settings.kafka, settings.peers);

    await service.whenAvailable('its topics', async () =>
      requireTopics(await kafka.listTopics(), [names.config, names.events, names.eventsRejected]),
    );
    const config = await service.whenAvailable('the configuration', () =>
      openConfig(kafka, names.config, log, { owner: settings.owner }),
    );
    metrics.gauge('tailrace_config_age_seconds', () => config.ageMs / 1_000);

    const publisher = kafka.publisher({
      lingerMs: lingerMs[settings.latency],
      giveUpAfterMs: settings.acknowledgeWithinMs,
      maxBufferedBytes: settings.maxBufferedBytes,
    });
    const memory = createMemoryBudget(settings.maxBufferedBytes);
    const ingestMetrics = createIngestMetrics(metrics, { publisher, memory });
    const refused = createRefusedCalls(publisher, names.eventsRejected);
    const server = createServer({
      routes: ingestRoutes({
        sources: createSourceFinder(config),
        acceptor: createAcceptor({
          publisher,
          names,
          rateLimits: createRateLimits({ sharedCalls: settings.sharedRateLimit }),
          refused,
          acknowledgeWithinMs: settings.acknowledgeWithinMs,
          metrics: ingestMetrics,
        }),
        refused,
        proxies: trustProxies(settings.trustedProxies),
        metrics: ingestMetrics,
        publicUrl: settings.publicUrl,
      }),
      metrics: ingestMetrics,
      memory,
      log,
      tracing: service.tracing,
      leaving: service.leaving,
      requestTimeoutMs: settings.requestTimeoutMs,
      maxConnections: settings.maxConnections,
    });
    service.onClose('HTTP server', () => server.close());
    return { port: await listen(server.http, settings, 'TAILRACE_INGEST_PORT') };
  },
});
