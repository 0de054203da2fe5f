/** The triggers of KEDA, and the query that scales delivery, in promtool: its value for a load. KEDA and the autoscaler of Kubernetes do not run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { named, namespace, render } from '../../support/kubernetes/chart.ts';
import { testRules } from './rules/promtool.ts';

const objects = await render({ valueSets: ['keda'] });
const { spec } = named(objects, 'ScaledObject', 'tailrace-delivery');
const { metricType, metadata } = spec.triggers[0] ?? assert.fail();

interface Replica {
  /** How late the oldest unfinished record of `deliveries` is. */
  readonly lagSeconds: number;
  /** The share of time for which the event loop is busy. */
  readonly busyShare: number;
}

/** Fails unless the query has this value, or none, after 20 minutes of a load. A retry topic is always late. */
async function expectValue(value: number | undefined, replicas: readonly Replica[]): Promise<void> {
  const labels = `namespace="${namespace}",tailrace_release="tailrace",tailrace_component="delivery",cluster="eu"`;
  const inputs = replicas.flatMap(({ lagSeconds, busyShare }, index) => {
    const own = `${labels},pod="pod-${String(index)}"`;
    return [
      [`tailrace_consumer_lag_seconds{${own},topic="tailrace.deliveries"}`, `${String(lagSeconds)}x80`],
      [`tailrace_consumer_lag_seconds{${own},topic="tailrace.deliveries.retry.1h"}`, '9999x80'],
      [`tailrace_event_loop_busy_seconds_total{${own}}`, `0+${String(busyShare * 15)}x80`],
    ];
  });
  const failures = await testRules({
    tests: [
      {
        interval: '15s',
        input_series: inputs.map(([series, values]) => ({ series, values })),
        promql_expr_test: [
          {
            expr: metadata['query'],
            eval_time: '20m',
            exp_samples: value === undefined ? [] : [{ labels: '{}', value }],
          },
        ],
      },
    ],
  });
  assert.equal(failures, '');
}

const late = { lagSeconds: 31, busyShare: 1 };
const busy = { lagSeconds: 1, busyShare: 0.6 };
const idle = { lagSeconds: 1, busyShare: 0.2 };

test('a group that is late and busy gets one replica more', async () => {
  await expectValue(2, [late, late, busy]);
});

test('a slow receiver, which makes records late and no loop busy, adds no replica', async () => {
  await expectValue(1, [
    { lagSeconds: 900, busyShare: 0.3 },
    { lagSeconds: 900, busyShare: 0.3 },
  ]);
});

test('a group keeps its replicas while the others could not take over the work of one', async () => {
  await expectValue(1, [busy, busy]);
});

test('a group that is neither late nor busy gets one replica less', async () => {
  await expectValue(0.5, [idle, idle, idle]);
});

test('a late retry topic neither adds a replica nor keeps one', async () => {
  await expectValue(0.5, [idle, idle]);
});

test('without series the query has no value, and KEDA keeps the replicas', async () => {
  await expectValue(undefined, []);
  assert.equal(metadata['ignoreNullValues'], 'false');
});

test('with the trigger kafka, each lagThreshold records of the topic are one replica, and steps down wait ten minutes', async () => {
  const scaled = await render({ valueSets: ['keda-kafka'] });
  const expected = { router: ['tailrace.events', '10000'], delivery: ['tailrace.deliveries', '2000000'] };
  for (const [component, [topic, lagThreshold]] of Object.entries(expected)) {
    const { spec } = named(scaled, 'ScaledObject', `tailrace-${component}`);
    assert.deepEqual(spec.triggers, [
      {
        type: 'kafka',
        metricType: 'AverageValue',
        metadata: {
          bootstrapServers: 'kafka-0.kafka:9093,kafka-1.kafka:9093',
          consumerGroup: `tailrace.${component}`,
          topic,
          lagThreshold,
          offsetResetPolicy: 'earliest',
          version: '2.1.0',
        },
        authenticationRef: { name: 'kafka' },
      },
    ]);
    const { scaleDown } = spec.advanced?.horizontalPodAutoscalerConfig.behavior ?? assert.fail();
    assert.equal(scaleDown.stabilizationWindowSeconds, 600);
  }
});

test('the value is a factor, and a step is one replica, up every 2 min and down every 10 min', () => {
  assert.deepEqual([metricType, metadata['threshold']], ['Value', '1']);
  const { scaleUp, scaleDown } = spec.advanced?.horizontalPodAutoscalerConfig.behavior ?? assert.fail();
  assert.deepEqual(scaleUp.policies, [{ type: 'Pods', value: 1, periodSeconds: 120 }]);
  assert.deepEqual(scaleDown.policies, [{ type: 'Pods', value: 1, periodSeconds: 600 }]);
});
