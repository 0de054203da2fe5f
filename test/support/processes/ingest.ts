/** Ingest in the process of the test or as a process, and a client for tests. */
import { probesUrlOf, urlOf, type ServiceHere } from '@tailrace/service/testing';
import { startServiceHere } from './here.ts';
import { startService, type Environment, type ServiceProcess } from './process.ts';

export * from '../../../services/ingest/src/testing/client.ts';

export interface Ingest<Service extends ServiceHere = ServiceHere> extends AsyncDisposable {
  readonly url: string;
  readonly probesUrl: string;
  readonly service: Service;
}

/** In the process of the test. */
export function startIngest(
  brokers: readonly string[],
  prefix: string,
  env: Environment = {},
): Promise<Ingest> {
  return open(startServiceHere('ingest', { ...environment(brokers, prefix), ...env }));
}

/** As a process: to measure its memory, and to read what it loads. */
export function startIngestProcess(
  brokers: readonly string[],
  prefix: string,
  env: Environment = {},
): Promise<Ingest<ServiceProcess>> {
  return open(startService('ingest', { ...environment(brokers, prefix), ...env }));
}

function environment(brokers: readonly string[], prefix: string): Environment {
  return {
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefix,
    TAILRACE_INGEST_PORT: '0',
    TAILRACE_METRICS_PORT: '0',
  };
}

async function open<Service extends ServiceHere>(starting: Promise<Service>): Promise<Ingest<Service>> {
  const service = await starting;
  return {
    url: urlOf(service),
    probesUrl: probesUrlOf(service),
    service,
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}
