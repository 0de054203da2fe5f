/** A real Prometheus that holds given series, without scraping. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run, toolPath } from '@tailrace/tools';
import { startPrometheusProcess } from '../monitoring/prometheus-process.ts';

export interface Series {
  /** Name and labels: `up{job="a"}`. */
  readonly name: string;
  readonly samples: readonly { readonly atSeconds: number; readonly value: number }[];
}

export interface Prometheus extends AsyncDisposable {
  /** The values of `query` at each step; the result must be one series or none. */
  range(query: string, range: { from: number; to: number; step: number }): Promise<Map<number, number>>;
}

export async function startPrometheus(series: readonly Series[]): Promise<Prometheus> {
  const prometheus = await startPrometheusProcess(
    { configuration: '{}\n', prepare: (folder, data) => importSeries(series, folder, data) },
    '--storage.tsdb.retention.time=100y',
  );
  return {
    async range(query, { from, to, step }) {
      const search = new URLSearchParams({ query, start: `${from}`, end: `${to}`, step: `${step}` });
      const { result } = (await prometheus.ask(`/api/v1/query_range?${search.toString()}`)) as {
        readonly result: readonly { readonly values: readonly [number, string][] }[];
      };
      if (result.length > 1) throw new Error(`${query}: more than one series`);
      return new Map((result[0]?.values ?? []).map(([at, value]) => [at, Number(value)]));
    },
    [Symbol.asyncDispose]: () => prometheus[Symbol.asyncDispose](),
  };
}

async function importSeries(series: readonly Series[], folder: string, data: string): Promise<void> {
  if (series.length === 0) return;
  const lines = series.flatMap(({ name, samples }) =>
    samples.map(({ atSeconds, value }) => `${name} ${value} ${atSeconds}`),
  );
  const file = path.join(folder, 'series');
  await writeFile(file, `${lines.join('\n')}\n# EOF\n`);
  await run(await toolPath('promtool'), ['tsdb', 'create-blocks-from', 'openmetrics', file, data]);
}
