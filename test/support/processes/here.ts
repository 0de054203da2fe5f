/** Runs services in the process of the test, where the process itself is not the subject. */
import { setDefaultCACertificates, getCACertificates } from 'node:tls';
import type { MemoryCluster } from '@tailrace/kafka/testing';
import { startHere, type HereOptions, type ServiceHere } from '@tailrace/service/testing';
import { certificates } from '../receivers/certificates.ts';
import type { Environment } from './process.ts';

type Start = (env: Environment, options: HereOptions) => Promise<ServiceHere>;

/** A service is loaded when a test first starts it. */
const starts = {
  ingest: async (env, options) =>
    startHere((await import('../../../services/ingest/src/open.ts')).ingest, env, options),
  router: async (env, options) =>
    startHere((await import('../../../services/router/src/open.ts')).router, env, options),
  delivery: async (env, options) =>
    startHere((await import('../../../services/delivery/src/open.ts')).delivery, env, options),
  control: async (env, options) =>
    startHere((await import('../../../services/control/src/open.ts')).control, env, options),
} satisfies Record<string, Start>;

export type ServiceName = keyof typeof starts;

interface Options extends Pick<HereOptions, 'onLine' | 'processMetrics'> {
  readonly cluster?: MemoryCluster | undefined;
}

/**
 * Starts a service and resolves when it is ready. Without `cluster` it connects to the brokers of its settings. It may use any
 * free port, and trusts the authority of the certificates of tests.
 */
export async function startServiceHere(
  name: ServiceName,
  env: Environment,
  { cluster, ...options }: Options = {},
): Promise<ServiceHere> {
  trustAuthority();
  return starts[name](
    { KAFKA_BROKERS: 'memory:9092', ...env },
    {
      ...options,
      ...(cluster && { connect: (_config, log, observer) => cluster.connect(log, observer) }),
    },
  );
}

let isTrusted = false;

/** What NODE_EXTRA_CA_CERTS does for a process of its own. */
function trustAuthority(): void {
  if (isTrusted) return;
  isTrusted = true;
  setDefaultCACertificates([...getCACertificates('default'), certificates().authority]);
}
