/** Replaces pods as the controllers of Kubernetes do, by the strategy of the rendered chart. */
import { ofKind, render } from '../kubernetes/chart.ts';
import { pace } from '../steadily.ts';

export interface Strategy {
  readonly kind: 'Deployment' | 'StatefulSet';
  readonly replicas: number;
  /** Pods that may exist beyond the replicas, and pods that may be missing. */
  readonly maxSurge: number;
  readonly maxUnavailable: number;
  /** A pod counts as available when it has been ready for this long. */
  readonly minReadyMs: number;
}

/** The strategy of each workload of the chart with these replicas, by its component. */
export async function renderedStrategies(
  replicas: Readonly<Record<string, number>>,
): Promise<Map<string, Strategy>> {
  const values = Object.fromEntries(
    Object.entries(replicas).map(([component, count]) => [component, { replicas: count }]),
  );
  const strategies = new Map<string, Strategy>();
  for (const workload of ofKind(await render({ values }), 'Deployment', 'StatefulSet')) {
    const { kind, spec, metadata } = workload as unknown as Workload;
    const component = metadata.labels['app.kubernetes.io/component'];
    const { maxSurge, maxUnavailable } = spec.strategy?.rollingUpdate ?? { maxSurge: 0, maxUnavailable: 1 };
    strategies.set(component ?? '', {
      kind,
      replicas: spec.replicas,
      maxSurge,
      maxUnavailable,
      minReadyMs: (spec.minReadySeconds ?? 0) * 1_000,
    });
  }
  return strategies;
}

/** The fields that count here. */
interface Workload {
  readonly kind: Strategy['kind'];
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly replicas: number;
    readonly minReadySeconds?: number;
    /** Absent in a StatefulSet, which replaces one pod after another, the last one first. */
    readonly strategy?: {
      readonly rollingUpdate: { readonly maxSurge: number; readonly maxUnavailable: number };
    };
  };
}

export interface Rollout<Pod> {
  readonly old: readonly Pod[];
  /** Resolves when the new pod is ready. In a StatefulSet it has the place of the one before. */
  readonly start: (place: number) => Promise<Pod>;
  /** Resolves when the pod has ended. A Deployment does not wait for that. */
  readonly stop: (pod: Pod) => Promise<void>;
}

export interface Step {
  /** The change: a pod that was started or stopped. */
  readonly what: string;
  /** Milliseconds since the epoch. `until` is when the next step could begin. */
  readonly from: number;
  readonly until: number;
}

/** Resolves with the steps when all pods are new and the old ones have ended. */
export async function roll<Pod>(strategy: Strategy, rollout: Rollout<Pod>): Promise<readonly Step[]> {
  const { kind, replicas, maxSurge, maxUnavailable, minReadyMs } = strategy;
  const steps: Step[] = [];
  const took = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const from = Date.now();
    const result = await work();
    steps.push({ what, from, until: Date.now() });
    return result;
  };
  const start = (place: number): Promise<Pod> =>
    took(`new pod ${place + 1} is added`, async () => {
      const pod = await rollout.start(place);
      await pace(minReadyMs);
      return pod;
    });

  if (kind === 'StatefulSet') {
    for (const [place, pod] of [...rollout.old.entries()].reverse()) {
      await took(`old pod ${place + 1} is removed`, () => rollout.stop(pod));
      await start(place);
    }
    return steps;
  }
  const old = [...rollout.old];
  const ending: Promise<void>[] = [];
  const stopOne = (): void => {
    const pod = old.shift();
    const place = rollout.old.length - old.length;
    if (pod !== undefined) ending.push(took(`old pod ${place} is removed`, () => rollout.stop(pod)));
  };
  let available = 0;
  while (available < replicas) {
    while (old.length > 0 && old.length + available > replicas - maxUnavailable) stopOne();
    const more = Math.min(replicas - available, replicas + maxSurge - old.length - available);
    await Promise.all(Array.from({ length: more }, (_, index) => start(available + index)));
    available += more;
  }
  while (old.length > 0) stopOne();
  await Promise.all(ending);
  return steps.sort((one, other) => one.from - other.from);
}
