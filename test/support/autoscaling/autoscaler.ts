/**
 * The decisions of Kubernetes' HorizontalPodAutoscaler for one external metric of type Value, as kube-controller-manager makes them
 * (pkg/controller/podautoscaler: `getUsageRatioReplicaCount`, `stabilizeRecommendationWithBehaviors`, `convertDesiredReplicasWithBehaviorRate`).
 */

export interface Behaviour {
  readonly stabilizationWindowSeconds: number;
  readonly policies: readonly {
    readonly type: 'Pods';
    readonly value: number;
    readonly periodSeconds: number;
  }[];
}

export interface AutoscalerOptions {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly target: number;
  readonly scaleUp: Behaviour;
  readonly scaleDown: Behaviour;
}

interface Change {
  readonly atSeconds: number;
  readonly by: number;
}

const tolerance = 0.1;

export class Autoscaler {
  readonly #options: AutoscalerOptions;
  readonly #recommendations: { readonly atSeconds: number; readonly replicas: number }[] = [];
  readonly #changes: Change[] = [];

  constructor(options: AutoscalerOptions) {
    this.#options = options;
  }

  /** @param metric undefined where the metric cannot be read, which keeps the replicas */
  decide(atSeconds: number, metric: number | undefined, current: number, ready = current): number {
    if (metric === undefined) return current;
    const { minReplicas, maxReplicas, target } = this.#options;
    const ratio = metric / target;
    const wanted = Math.abs(ratio - 1) <= tolerance ? current : Math.ceil(ratio * ready);
    const stable = this.#stabilize(atSeconds, wanted, current);
    const limited = this.#limitRate(atSeconds, stable, current);
    const replicas = Math.min(maxReplicas, Math.max(minReplicas, limited));
    if (replicas !== current) this.#changes.push({ atSeconds, by: replicas - current });
    return replicas;
  }

  #stabilize(atSeconds: number, wanted: number, current: number): number {
    this.#recommendations.push({ atSeconds, replicas: wanted });
    const within = (seconds: number): number[] =>
      this.#recommendations
        .filter((found) => found.atSeconds > atSeconds - seconds)
        .map(({ replicas }) => replicas);
    const lowest = Math.min(wanted, ...within(this.#options.scaleUp.stabilizationWindowSeconds));
    const highest = Math.max(wanted, ...within(this.#options.scaleDown.stabilizationWindowSeconds));
    return Math.min(highest, Math.max(lowest, current));
  }

  #limitRate(atSeconds: number, wanted: number, current: number): number {
    const { scaleUp, scaleDown } = this.#options;
    if (wanted > current) return Math.min(wanted, current + this.#allowed(scaleUp, atSeconds, 1));
    return Math.max(wanted, current - this.#allowed(scaleDown, atSeconds, -1));
  }

  /** How many replicas may still be added (or removed) in the current periods. */
  #allowed({ policies }: Behaviour, atSeconds: number, direction: 1 | -1): number {
    const allowed = policies.map(({ value, periodSeconds }) => {
      const recent = this.#changes.filter((change) => change.atSeconds > atSeconds - periodSeconds);
      const made = recent.map(({ by }) => by * direction).filter((by) => by > 0);
      return value - made.reduce((sum, by) => sum + by, 0);
    });
    return Math.max(0, ...allowed);
  }
}
