/** A real Prometheus with a folder of its own. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { toolPath } from '@tailrace/tools';
import { startProgram, untilReady } from '../processes/program.ts';
import { closedPort } from '../receivers/closed-port.ts';

export interface PrometheusProcess extends AsyncDisposable {
  readonly url: string;
  /** The `data` of the answer to a path of the HTTP API with its query. Fails with Prometheus' own error. */
  readonly ask: (route: string) => Promise<unknown>;
}

export interface PrometheusFiles {
  /** prometheus.yaml */
  readonly configuration: string;
  /** Called before the start, for what else the folder has to hold. */
  readonly prepare?: (folder: string, data: string) => Promise<void>;
}

export async function startPrometheusProcess(
  { configuration, prepare }: PrometheusFiles,
  ...args: readonly string[]
): Promise<PrometheusProcess> {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-prometheus-'));
  started.defer(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'prometheus.yaml');
  const data = path.join(folder, 'data');
  await writeFile(file, configuration);
  await prepare?.(folder, data);
  const address = `127.0.0.1:${String(await closedPort())}`;
  const program = startProgram(await toolPath('prometheus'), [
    `--config.file=${file}`,
    `--storage.tsdb.path=${data}`,
    `--web.listen-address=${address}`,
    '--log.level=error',
    ...args,
  ]);
  started.use(program);
  const url = `http://${address}`;
  await untilReady(async () => {
    const { ok } = await fetch(`${url}/-/ready`);
    assert.ok(ok);
  }, program);
  const owned = started.move();
  return {
    url,
    async ask(route) {
      const response = await fetch(`${url}${route}`);
      const { status, data, error } = (await response.json()) as {
        readonly status: string;
        readonly data: unknown;
        readonly error?: string;
      };
      assert.equal(status, 'success', `${route}: ${error ?? ''}`);
      return data;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
