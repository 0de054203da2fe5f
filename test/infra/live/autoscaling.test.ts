/**
 * The scaling query of the chart in a real Prometheus, and the formula of Kubernetes' autoscaler, in a closed loop: the replicas that it
 * decides change the load of each replica. KEDA itself does not run here.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Autoscaler, type AutoscalerOptions } from '../../support/autoscaling/autoscaler.ts';
import { epoch, scrapeSeconds, seriesOf, type Load, type Step } from '../../support/autoscaling/group.ts';
import { startPrometheus } from '../../support/autoscaling/prometheus.ts';
import { recordedSeries, recordingFile, type Recording } from '../../support/autoscaling/recording.ts';
import { named, namespace, render } from '../../support/kubernetes/chart.ts';

const minute = 60;
const options = { minReplicas: 2, maxReplicas: 12 };
const { query, trigger, spec } = await scaledObject();
const behaviour = spec.advanced?.horizontalPodAutoscalerConfig.behavior ?? assert.fail();
const labels = `namespace="${namespace}",tailrace_release="tailrace",tailrace_component="delivery",cluster="eu"`;

const autoscaler = (limits: Pick<AutoscalerOptions, 'minReplicas' | 'maxReplicas'>): Autoscaler =>
  new Autoscaler({ ...limits, ...behaviour, target: Number(trigger?.metadata['threshold']) });

async function scaledObject(busyShare?: number) {
  const values = busyShare === undefined ? {} : { delivery: { autoscaling: { busyShare } } };
  const objects = await render({ valueSets: ['keda'], values });
  const { spec } = named(objects, 'ScaledObject', 'tailrace-delivery');
  const [trigger] = spec.triggers;
  return { spec, trigger, query: trigger?.metadata['query'] ?? assert.fail() };
}

/** The values that the query has over time, with these replicas. */
async function valuesOf(load: Load, steps: readonly Step[]): Promise<Map<number, number>> {
  const series = seriesOf({ load, steps, labels, topic: 'tailrace.deliveries' });
  await using prometheus = await startPrometheus(series);
  return await prometheus.range(query, { from: epoch, to: epoch + load.seconds, step: scrapeSeconds });
}

/** The replicas over time. A decision changes what follows it, so the model runs again after each. */
async function scale(load: Load, from: number = options.minReplicas): Promise<Step[]> {
  const steps: Step[] = [{ atSeconds: 0, replicas: from }];
  for (;;) {
    const values = await valuesOf(load, steps);
    const next = firstNewDecision(values, steps, load.seconds);
    if (next === undefined) return steps;
    steps.push(next);
    assert.ok(steps.length < 30, `it does not settle: ${JSON.stringify(steps)}`);
  }
}

function firstNewDecision(
  values: ReadonlyMap<number, number>,
  steps: readonly Step[],
  seconds: number,
): Step | undefined {
  const decider = autoscaler(options);
  for (let second = 0; second <= seconds; second += scrapeSeconds) {
    const current = steps.findLast(({ atSeconds }) => atSeconds < second || second === 0)?.replicas ?? 0;
    const replicas = decider.decide(second, values.get(epoch + second), current);
    const known = steps.find(({ atSeconds }) => atSeconds === second);
    if (replicas !== current && !known) return { atSeconds: second, replicas };
  }
  return undefined;
}

const changesOf = (steps: readonly Step[]): number[] =>
  steps.slice(1).map(({ replicas }, index) => replicas - (steps[index]?.replicas ?? 0));

/** How often replicas go down after they went up, or up after down. */
function turnsOf(steps: readonly Step[]): number {
  const changes = changesOf(steps);
  return changes.filter(
    (change, index) => index > 0 && Math.sign(change) !== Math.sign(changes[index - 1] ?? 0),
  ).length;
}

/** The same noise in every run, of up to a fifth. */
const noisy = (rate: number, second: number): number =>
  rate * (1 + 0.1 * Math.sin(second / 7) + 0.1 * Math.sin(second / 41 + 1));

describe('replicas of delivery, scaled by the query of the chart', () => {
  test('follow a rise and a fall of the load, and change direction once', async (t) => {
    const load: Load = {
      seconds: 240 * minute,
      arrivals: (second) => noisy(second < 10 * minute || second > 100 * minute ? 1_500 : 9_000, second),
    };
    const steps = await scale(load);
    t.diagnostic(
      steps.map(({ atSeconds, replicas }) => `${replicas} from ${atSeconds / minute} min`).join(', '),
    );
    assert.equal(turnsOf(steps), 1);
    assert.ok(Math.max(...steps.map(({ replicas }) => replicas)) >= 5, 'enough for 9,000 a second');
    assert.equal(steps.at(-1)?.replicas, options.minReplicas);
    for (const [index, step] of steps.entries()) {
      const before = steps[index - 1];
      if (!before) continue;
      assert.equal(Math.abs(step.replicas - before.replicas), 1, 'one at a time');
      const pause = step.atSeconds - before.atSeconds;
      if (index > 1)
        assert.ok(pause >= (step.replicas > before.replicas ? 2 : 10) * minute, `after ${pause} s`);
    }
  });

  test('do not change under a constant load just below the limit', async () => {
    const steps = await scale({
      seconds: 120 * minute,
      arrivals: (second) => noisy(2 * 2_000 * 0.76, second),
    });
    assert.ok(turnsOf(steps) === 0, JSON.stringify(steps));
  });

  test('stay while short bursts return, once there are enough', async () => {
    const steps = await scale({
      seconds: 180 * minute,
      arrivals: (second) => (second % (10 * minute) < minute ? 12_000 : 400),
    });
    assert.equal(turnsOf(steps), 0, JSON.stringify(steps));
  });

  test('do not change because of one slow receiver or late retry topics', async () => {
    const load: Load = { seconds: 60 * minute, arrivals: () => 2_200, slowReceiverSeconds: 900 };
    assert.deepEqual(await scale(load), [{ atSeconds: 0, replicas: 2 }]);
  });

  test('change direction once at most over the recorded lag of the real services', async (t) => {
    // While it was recorded, the load, Kafka, all services and the receiver had two cores together: delivery was busy for
    // 0.6 of the time at most, when it could not follow.
    const { query } = await scaledObject(0.5);
    const recording = JSON.parse(readFileSync(recordingFile, 'utf8')) as Recording;
    const series = recordedSeries(recording, { labels, topic: 'tailrace.deliveries', replicas: 2 });
    const seconds = series[0]?.samples.at(-1)?.atSeconds ?? NaN;
    await using prometheus = await startPrometheus(series);
    const values = await prometheus.range(query, { from: epoch, to: seconds, step: scrapeSeconds });
    const decider = autoscaler(options);
    const steps: Step[] = [{ atSeconds: 0, replicas: options.minReplicas }];
    for (const [at, value] of values) {
      const current = steps.at(-1)?.replicas ?? NaN;
      const replicas = decider.decide(at - epoch, value, current);
      if (replicas !== current) steps.push({ atSeconds: at - epoch, replicas });
    }
    t.diagnostic(
      steps.map(({ atSeconds, replicas }) => `${replicas} from ${atSeconds / minute} min`).join(', '),
    );
    assert.ok(steps.length > 2, 'the recorded lag makes it add replicas');
    assert.ok(turnsOf(steps) <= 1, JSON.stringify(steps));
  });

  test('stay without an answer of Prometheus, and without series', async () => {
    await using empty = await startPrometheus([]);
    const values = await empty.range(query, { from: epoch, to: epoch + 600, step: 60 });
    assert.equal(
      values.size,
      0,
      'KEDA reports an error for an empty result, because ignoreNullValues is false',
    );
    assert.equal(trigger?.metadata['ignoreNullValues'], 'false');
    assert.equal(autoscaler(options).decide(0, undefined, 7), 7);
  });

  test('never exceed the limit', () => {
    const decider = autoscaler({ minReplicas: 2, maxReplicas: 3 });
    let replicas = 2;
    for (let second = 0; second < 3_600; second += 15) replicas = decider.decide(second, 2, replicas);
    assert.equal(replicas, 3);
  });
});
