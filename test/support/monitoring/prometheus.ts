/** A real Prometheus that scrapes services of a test every second, with labels as the chart's ServiceMonitor sets them. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { startPrometheusProcess } from './prometheus-process.ts';

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

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  /** Times in seconds, and values. An instant query has one. */
  readonly points: readonly (readonly [time: number, value: number])[];
}

export interface Alert {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Prometheus extends AsyncDisposable {
  readonly url: string;
  query(expr: string): Promise<readonly Sample[]>;
  /** From a time in seconds until now, with 60 points. */
  queryRange(expr: string, from: number): Promise<readonly Sample[]>;
  firing(): Promise<readonly Alert[]>;
  /** Why the last scrape of a target failed, or that it was not scraped yet; none if all succeeded. */
  scrapeProblems(): Promise<readonly string[]>;
}

const pages = ['/metrics', '/metrics/destinations', '/metrics/sources', '/metrics/partitions'];

export async function startPrometheus({ targets, rules }: PrometheusOptions): Promise<Prometheus> {
  const ruleFiles = rules.map((_, index) => `rules-${String(index)}.yaml`);
  const prometheus = await startPrometheusProcess({
    configuration: stringify(configuration(targets, ruleFiles)),
    async prepare(folder) {
      for (const [index, text] of rules.entries())
        await writeFile(path.join(folder, ruleFiles[index] ?? ''), text);
    },
  });
  const { url, ask } = prometheus;
  return {
    url,
    async query(expr) {
      const data = await ask(`/api/v1/query?query=${encodeURIComponent(expr)}`);
      return samplesOf(data as QueryData);
    },
    async queryRange(expr, from) {
      const now = Date.now() / 1_000;
      const range = `start=${String(from)}&end=${String(now)}&step=${String(Math.max(1, (now - from) / 60))}`;
      return samplesOf(
        (await ask(`/api/v1/query_range?query=${encodeURIComponent(expr)}&${range}`)) as QueryData,
      );
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
    [Symbol.asyncDispose]: () => prometheus[Symbol.asyncDispose](),
  };
}

interface QueryData {
  readonly result: readonly {
    readonly metric: Record<string, string>;
    readonly value?: readonly [number, string];
    readonly values?: readonly (readonly [number, string])[];
  }[];
}

function samplesOf({ result }: QueryData): Sample[] {
  return result.map(({ metric, value, values = value ? [value] : [] }) => ({
    labels: metric,
    points: values.map(([time, text]) => [time, Number(text)] as const),
  }));
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
