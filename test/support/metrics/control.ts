/** Control beside a pipeline on an in-memory cluster, for tests of metrics. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { MemoryCluster } from '@tailrace/kafka/testing';
import { urlOf, type ServiceHere } from '@tailrace/service/testing';
import { startServiceHere } from '../processes/here.ts';
import type { Pipeline } from '../processes/pipeline.ts';

export const adminToken = 'test-admin-token-0123456789';
export const readToken = 'test-read-token-0123456789';

/** With the metrics of the process. */
export async function startControlHere(
  { names }: Pick<Pipeline, 'names'>,
  cluster: MemoryCluster,
): Promise<ServiceHere> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-control-'));
  const control = await startServiceHere(
    'control',
    {
      TAILRACE_TOPIC_PREFIX: names.events.replace(/events$/, ''),
      TAILRACE_CONTROL_PORT: '0',
      TAILRACE_API_TOKEN: adminToken,
      TAILRACE_API_READ_TOKEN: readToken,
      // Tests send requests as fast as they can.
      TAILRACE_API_RATE_LIMIT: '100000',
      TAILRACE_DATA_DIR: folder,
    },
    { cluster, processMetrics: true },
  );
  return {
    ...control,
    async [Symbol.asyncDispose]() {
      await control.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Asked {
  readonly path: string;
  readonly method?: string;
  /** Default: the admin token. Null sends none. */
  readonly token?: string | null;
}

/** A request of any kind, whose answer is read to its end unless it is a stream. */
export async function askControl(
  control: ServiceHere,
  { path, method = 'GET', token = adminToken }: Asked,
): Promise<string> {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${urlOf(control)}${path}`, { method, headers });
  const isStream = /ndjson|event-stream/.test(response.headers.get('content-type') ?? '');
  if (!isStream) return response.text();
  await response.body?.cancel();
  return '';
}
