/**
 * The life of a service, without its process: start, wait for Kafka, ready, stop. `runService` runs it as the process of
 * a service; tests run it in their own process.
 *
 * A service that starts before Kafka is available waits for it, live and not ready. Once it is ready it stays so until it
 * stops: a broker that stalls affects all replicas, and a load balancer without any of them would answer worse than they do.
 * Later trouble is a metric. Only trouble of this replica alone makes it unready: what Kafka refuses of it for 15 s, and, where it
 * can ask the other replicas, no connection to Kafka.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError, type TailraceError } from '@tailrace/errors';
import { connectKafka, type Kafka } from '@tailrace/kafka';
import type { Tracing } from '@tailrace/tracing';
import type { TObject } from 'typebox';
import { Health } from '../probes/health.ts';
import { aloneWithout } from '../probes/peers.ts';
import { observeKafka, watchPublishers, watchRefusals } from '../metrics/kafka.ts';
import type { Log } from '../log/log.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { startProbeServer, type Readiness } from '../probes/server.ts';
import type { SettingsOf } from '../settings/read.ts';
import type { serviceSettings } from '../settings/shared.ts';
import { startServiceTracing } from './tracing.ts';

export type ServiceProperties = ReturnType<typeof serviceSettings>;
type KafkaConfig = Parameters<typeof connectKafka>[0];

const aloneCheck = 'kafka-elsewhere';

/** What a service opens its parts with. */
export type ServiceContext<Settings> = Readonly<
  Omit<Service<ServiceProperties>, 'settings' | 'start' | 'stop'> & { settings: Settings }
>;

export interface ServiceDefinition<P extends ServiceProperties> {
  readonly name: string;
  readonly settings: TObject<P>;
  /** Opens all parts. Resolves with fields for the line `ready` of the log. */
  readonly open: (
    service: ServiceContext<SettingsOf<TObject<P>>>,
  ) => Promise<Readonly<Record<string, unknown>> | undefined>;
}

/** Infers the type of the settings. */
export function defineService<P extends ServiceProperties>(
  definition: ServiceDefinition<P>,
): ServiceDefinition<P> {
  return definition;
}

/** The surroundings of a service: its process, or a test. */
export interface ServiceHost {
  readonly log: Log;
  /** Default: a new registry with the metrics of the process. */
  readonly metrics?: Metrics;
  /** Default: `connectKafka`. */
  readonly connect?: typeof connectKafka;
}

export class Service<P extends ServiceProperties> {
  readonly settings: SettingsOf<TObject<P>>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The checks of `/readyz` and `tailrace_check_ok`. */
  readonly health = new Health();
  /** Undefined where tracing is off. */
  tracing: Tracing | undefined;
  readonly #definition: ServiceDefinition<P>;
  readonly #connect: typeof connectKafka;
  readonly #leaving = new AbortController();
  readonly #stopping = new AbortController();
  readonly #closers: Closer[] = [];
  #kafka: Kafka | undefined;
  #notReadyBecause: string | undefined = 'it is starting';

  constructor(
    definition: ServiceDefinition<P>,
    settings: SettingsOf<TObject<P>>,
    { log, metrics = createMetrics(), connect = connectKafka }: ServiceHost,
  ) {
    this.#definition = definition;
    this.settings = settings;
    this.log = log;
    this.metrics = metrics;
    this.#connect = connect;
    watchHealth(metrics, () => this.#readiness());
  }

  /** Aborted when the service stops. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Aborted before that, when the service has become unready and still serves for TAILRACE_SHUTDOWN_DELAY. */
  get leaving(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Resolves when the service is ready, or when its stop began before. */
  async start(): Promise<void> {
    const { log, metrics } = this;
    const { host, metricsPort, shutdownGraceMs, tracing } = this.#shared;
    try {
      const readiness = (): Readiness => this.#readiness();
      const probes = await startProbeServer({ host, port: metricsPort, metrics, readiness });
      this.onClose('probe server', () => probes.close());
      log.info({ metricsPort: probes.port }, 'starting');
      const started = await startServiceTracing(this.#definition.name, tracing, { log, metrics });
      if (started) this.onClose('tracing', () => started.close(lastExportMs(shutdownGraceMs)));
      this.tracing = started;
      const fields = await this.#definition.open(this);
      if (this.leaving.aborted) return;
      this.#notReadyBecause = undefined;
      log.info({ ...fields }, 'ready');
      log.flush();
    } catch (error) {
      if (!this.signal.aborted) throw error;
    }
  }

  /**
   * Closes all parts, once; a ready service serves for `delayMs` before. Resolves with whether all closed without an error
   * in time, and with undefined where a stop has begun before.
   */
  async stop(reason: string, delayMs = 0): Promise<boolean | undefined> {
    if (this.leaving.aborted) return undefined;
    const isServing = this.#notReadyBecause === undefined;
    this.#notReadyBecause = `it is stopping: ${reason}`;
    this.log.info({ reason }, 'stopping');
    this.#leaving.abort();
    if (isServing && delayMs > 0) {
      this.log.info({ delayMs }, 'serving until load balancers have noticed');
      await wait(delayMs);
    }
    this.#stopping.abort();
    this.health.close();
    const clean = await closeAll(this.#closers, this.#shared.shutdownGraceMs, this.log);
    if (clean) this.log.info('stopped');
    return clean;
  }

  /**
   * Connects to Kafka, with metrics and a check. The connection is closed at the stop.
   *
   * @param peers a name with the addresses of all replicas
   */
  openKafka(config: KafkaConfig, peers?: string): Kafka {
    const kafka = this.#connect(config, this.log, observeKafka(this.metrics));
    this.onClose('Kafka', () => kafka.close());
    watchPublishers(this.metrics, kafka);
    watchRefusals(this.metrics, kafka);
    this.#kafka = kafka;
    this.health.add('kafka', () => kafka.ping());
    if (peers !== undefined) {
      const others = { host: peers, port: this.#shared.metricsPort };
      this.health.add(aloneCheck, aloneWithout('kafka', this.health, others));
    }
    return kafka;
  }

  /** Registers a function to call at the stop, in reverse order of registration. `name` is for the log. */
  onClose(name: string, close: () => Promise<void> | void): void {
    this.#closers.push({ name, close });
  }

  /**
   * Calls `attempt` again while it fails with an error of status 503 (Kafka is unavailable, rejects the
   * credentials, lacks a topic). Until it resolves, the service is not ready, with the error as the reason. The log has
   * each different error once.
   */
  whenAvailable<T>(what: string, attempt: () => Promise<T>): Promise<T> {
    const logged = new Set<string>();
    if (!this.leaving.aborted) this.#notReadyBecause = `it is waiting for ${what}`;
    return retryWhileUnavailable(attempt, this.signal, ({ code, message }) => {
      if (this.leaving.aborted) return;
      this.#notReadyBecause = `it is waiting for ${what}: ${message}`;
      if (logged.has(message) || logged.size >= maxLogged) return;
      logged.add(message);
      this.log.warn({ code, waitingFor: what }, message);
    });
  }

  /** The settings that every service has. */
  get #shared(): SettingsOf<TObject<ServiceProperties>> {
    return this.settings as SettingsOf<TObject<ServiceProperties>>;
  }

  #readiness(): Readiness {
    const { checks } = this.health;
    const alone = checks.find(({ name, ok }) => name === aloneCheck && !ok);
    const reason = this.#notReadyBecause ?? this.#kafka?.refusal()?.message ?? alone?.reason;
    return reason === undefined ? { ready: true, checks } : { ready: false, reason, checks };
  }
}

/** The last spans are worth a short wait only: a collector that does not answer is no reason for a failed stop. */
function lastExportMs(shutdownGraceMs: number): number {
  return Math.min(3_000, shutdownGraceMs / 4);
}

/** The metrics of what `/readyz` answers, and of the clock. */
function watchHealth(metrics: Metrics, readiness: () => Readiness): void {
  metrics.gauge('tailrace_clock_seconds', () => Date.now() / 1_000);
  metrics.gauge('tailrace_ready', () => (readiness().ready ? 1 : 0));
  metrics.gauge('tailrace_check_ok', () =>
    readiness().checks.map(({ name, ok }) => ({ labels: { check: name }, value: ok ? 1 : 0 })),
  );
}

interface Closer {
  readonly name: string;
  readonly close: () => Promise<void> | void;
}

/** Whether all closed without an error within `graceMs` in total. */
async function closeAll(closers: Closer[], graceMs: number, log: Log): Promise<boolean> {
  const deadline = wait(graceMs, 'late' as const, { ref: false });
  let clean = true;
  for (let closer = closers.pop(); closer; closer = closers.pop()) {
    const { name, close } = closer;
    const outcome = await Promise.race([
      deadline,
      (async () => close())().then(
        () => 'closed' as const,
        (error: unknown) => {
          log.error({ err: error, closing: name }, 'close failed');
          return 'failed' as const;
        },
      ),
    ]);
    if (outcome === 'late') {
      const unclosed = closers.map((closer) => closer.name).reverse();
      log.error({ hung: name, unclosed, graceMs }, `${name} did not stop in time`);
      return false;
    }
    clean &&= outcome === 'closed';
  }
  return clean;
}

/** Bounds the memory for messages that contain something new each time. */
const maxLogged = 100;
const firstRetryMs = 500;
const longestRetryMs = 5_000;

async function retryWhileUnavailable<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal,
  onFailure: (error: TailraceError) => void,
): Promise<T> {
  for (let delayMs = firstRetryMs; ; delayMs = Math.min(delayMs * 2, longestRetryMs)) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (!isTailraceError(error) || error.status !== 503) throw error;
      onFailure(error);
    }
    await wait(delayMs, undefined, { signal });
  }
}
