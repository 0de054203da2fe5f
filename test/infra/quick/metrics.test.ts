/**
 * The running services expose exactly the metrics of the catalogue (packages/metrics): names, types, labels and pages. promtool
 * finds nothing to criticise on any page.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import {
  catalogue,
  firstSeries,
  labelNamesOf,
  pageOf,
  services,
  type MetricSpec,
  type Service,
} from '@tailrace/metrics';
import { probesUrlOf } from '@tailrace/service/testing';
import { eventually } from '@tailrace/testing';
import { toolPath } from '../../support/tools/tools.ts';
import { metricsPages, pageOf as textOf, seriesIn, type Series } from '../../support/metrics/scrape.ts';
import { startControlHere } from '../../support/processes/control.ts';
import { startPipeline } from '../../support/processes/pipeline.ts';
import { status } from '../../support/receivers/answers.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';

interface Exposed {
  readonly text: string;
  readonly types: ReadonlyMap<string, string>;
  readonly series: readonly Series[];
}

const opened = new AsyncDisposableStack();
const urls = new Map<Service, string>();
/** By service and page. */
const exposed = new Map<string, Exposed>();

before(async () => {
  const cluster = new MemoryCluster();
  const pipeline = opened.use(
    await startPipeline({ cluster, processMetrics: true, retrySchedule: '50ms,50ms', retryWindow: '2m' }),
  );
  const prefix = pipeline.names.events.replace(/events$/, '');
  const control = opened.use(await startControlHere(cluster, prefix, {}, { processMetrics: true }));
  for (const service of ['ingest', 'router', 'delivery'] as const) {
    urls.set(service, probesUrlOf(pipeline[service]));
  }
  urls.set('control', control.probesUrl);

  // Events of every outcome, so that metrics without closed labels have series.
  const answer = (_request: unknown, nth: number) => status(nth % 3 === 0 ? 400 : nth % 2 === 0 ? 503 : 200);
  const receiver = opened.use(await startReceiver({ answer }));
  const { send, post } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  for (let nth = 0; nth < 12; nth += 1) await send('track', { userId: `u-${nth}`, event: 'Order Completed' });
  await post('batch', { batch: [{ type: 'track' }] });
  await control.ask({ path: '/v1/sources' });
  await receiver.waitFor(12);
  await eventually(
    () => textOf(urls.get('delivery') ?? '', '/destinations'),
    (page) => page.includes('tailrace_destination_dead_letters_total{'),
  );
  for (const [service, url] of urls) {
    for (const page of metricsPages) {
      const text = await textOf(url, page);
      const types = Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = '', type = '']) => {
        return [name, type] as const;
      });
      exposed.set(`${service} /metrics${page}`, { text, types: new Map(types), series: seriesIn(text) });
    }
  }
});
after(() => opened.disposeAsync());

/** The metrics of the catalogue that a page of a service has to show. */
function wanted(service: Service, page: string): ReadonlyMap<string, MetricSpec> {
  return new Map(
    Object.entries<MetricSpec>(catalogue).filter(
      ([, spec]) => spec.services.includes(service) && pageOf(spec) === page,
    ),
  );
}

for (const service of services) {
  test(`${service} exposes the metrics of the catalogue, each with its type on its page, and no others`, () => {
    for (const page of metricsPages) {
      const { types = new Map<string, string>() } = exposed.get(`${service} /metrics${page}`) ?? {};
      const inCatalogue = Array.from(wanted(service, `/metrics${page}`), ([name, { type }]) => [name, type]);
      assert.deepEqual([...types].sort(), inCatalogue.sort(), `${service} /metrics${page}`);
    }
  });

  test(`every series of ${service} has the labels of the catalogue, with values of their sets`, () => {
    for (const page of metricsPages) {
      const specs = wanted(service, `/metrics${page}`);
      for (const { name, labels } of exposed.get(`${service} /metrics${page}`)?.series ?? []) {
        const base = specs.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
        const spec = specs.get(base) ?? assert.fail(`${name} is not in the catalogue`);
        const names = [...labelNamesOf(spec), ...(name.endsWith('_bucket') ? ['le'] : [])];
        assert.deepEqual(Object.keys(labels).sort(), names.sort(), name);
        for (const [label, value] of Object.entries(labels)) {
          const allowed = spec.labels?.[label];
          if (allowed && 'values' in allowed) {
            assert.ok(allowed.values.includes(value), `${name}{${label}="${value}"}`);
          }
        }
      }
    }
  });

  test(`counters and histograms of ${service} with closed labels show every combination, from 0`, () => {
    const { series = [], types } = exposed.get(`${service} /metrics`) ?? {};
    for (const [name, spec] of wanted(service, '/metrics')) {
      // The garbage collections of a kind appear with the first of them.
      if (!types?.has(name) || !name.startsWith('tailrace_') || spec.type === 'gauge') continue;
      const shown = series.filter((one) => one.name === (spec.type === 'histogram' ? `${name}_count` : name));
      for (const labels of firstSeries(spec)) {
        assert.ok(
          shown.some((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value)),
          `${name} ${JSON.stringify(labels)}`,
        );
      }
    }
  });

  test(`promtool finds nothing on the pages of ${service}`, async () => {
    for (const page of metricsPages) {
      const promtool = spawn(await toolPath('promtool'), ['check', 'metrics'], { stdio: 'pipe' });
      const found = Promise.all([text(promtool.stdout), text(promtool.stderr)]);
      promtool.stdin.end(exposed.get(`${service} /metrics${page}`)?.text);
      const [code] = (await once(promtool, 'exit')) as [number | null];
      assert.deepEqual([code, ...(await found)], [0, '', ''], page);
    }
  });
}
