/** A real Prometheus that scrapes services of a test every second, with labels as the chart's ServiceMonitor sets them. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { toolPath } from '../tools/tools.ts';
import { startProgram, untilReady } from '../processes/program.ts';
import { closedPort } from '../receivers/closed-port.ts';

export interface Target {
  readonly component: string;
  /** Host and port of the metrics. */
  readonly address: string;
}

export interface PrometheusOptions {
  readonly targets: readonly Target[];
  /** Texts of rule files. */
  readonly rules: readonly string[];
}

export interface Alert {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Prometheus extends AsyncDisposable {
  /** The series of the answer. */
  query(expr: string): Promise<readonly unknown[]>;
  firing(): Promise<readonly Alert[]>;
  /** Why the last scrape of a target failed, or that it was not scraped yet; none if all succeeded. */
  scrapeProblems(): Promise<readonly string[]>;
}

const pages = ['/metrics', '/metrics/destinations', '/metrics/sources', '/metrics/partitions'];

export async function startPrometheus({ targets, rules }: PrometheusOptions): Promise<Prometheus> {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-prometheus-'));
  started.defer(() => rm(folder, { recursive: true }));
  const ruleFiles = rules.map((_, index) => `rules-${String(index)}.yaml`);
  for (const [index, text] of rules.entries())
    await writeFile(path.join(folder, ruleFiles[index] ?? ''), text);
  const file = path.join(folder, 'prometheus.yaml');
  await writeFile(file, stringify(configuration(targets, ruleFiles)));
  const address = `127.0.0.1:${String(await closedPort())}`;
  const program = startProgram(await toolPath('prometheus'), [
    `--config.file=${file}`,
    `--storage.tsdb.path=${path.join(folder, 'data')}`,
    `--web.listen-address=${address}`,
    '--log.level=error',
  ]);
  started.use(program);
  const url = `http://${address}`;
  await untilReady(async () => {
    const { ok } = await fetch(`${url}/-/ready`);
    assert.ok(ok);
  }, program);
  const ask = async (route: string): Promise<unknown> => {
    const response = await fetch(`${url}${route}`);
    const { status, data, error } = (await response.json()) as {
      readonly status: string;
      readonly data: unknown;
      readonly error?: string;
    };
    assert.equal(status, 'success', `${route}: ${error ?? ''}`);
    return data;
  };
  const owned = started.move();
  return {
    async query(expr) {
      const data = await ask(`/api/v1/query?query=${encodeURIComponent(expr)}`);
      return (data as { readonly result: readonly unknown[] }).result;
    },
    async firing() {
      const { alerts } = (await ask('/api/v1/alerts')) as {
        alerts: { state: string; labels: Record<string, string> }[];
      };
      return alerts
        .filter(({ state }) => state === 'firing')
        .map(({ labels }) => ({ name: labels['alertname'] ?? '', labels }));
    },
    async scrapeProblems() {
      const { activeTargets } = (await ask('/api/v1/targets?state=active')) as {
        activeTargets: { scrapeUrl: string; health: string; lastError: string }[];
      };
      return activeTargets
        .filter(({ health }) => health !== 'up')
        .map(({ scrapeUrl, health, lastError }) => `${scrapeUrl} is ${health}: ${lastError}`);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function configuration(targets: readonly Target[], ruleFiles: readonly string[]): object {
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ruleFiles,
    scrape_configs: pages.map((page) => ({
      job_name: `tailrace${page.replaceAll('/', '-')}`,
      metrics_path: page,
      static_configs: targets.map(({ component, address }) => ({
        targets: [address],
        labels: {
          cluster: 'local',
          namespace: 'test',
          tailrace_release: 'acme',
          tailrace_prefix: 'acme.',
          tailrace_component: component,
          pod: `acme-${component}-0`,
          metrics_path: page,
        },
      })),
    })),
  };
}
