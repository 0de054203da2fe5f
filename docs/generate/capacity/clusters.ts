/**
 * Simulates a load over several clusters. Each source belongs to one cluster, chosen by rendezvous hashing of its id, so that
 * the order and the deduplication of its users stay in one place, and the loss of a cluster moves only its own sources.
 * The traffic of sources follows Zipf's law. Events arrive in steps, and a cluster handles its capacity in each step.
 */
export interface Simulation {
  readonly eventsPerSecond: number;
  readonly sources: number;
  readonly clusters: number;
  /** Events a second that one cluster handles. */
  readonly capacity: number;
  /** The exponent of Zipf's law: 0 for equal sources; 1 is heavy. */
  readonly exponent: number;
  readonly seconds: number;
  /** The second in which the first cluster is lost; its sources move to the others. */
  readonly lostAt?: number;
}

export interface SimulationResult {
  /** Of all traffic. */
  readonly largestSourceShare: number;
  /** The busiest cluster, before a loss and after it: events a second. */
  readonly busiest: number;
  readonly busiestAfterLoss: number;
  readonly arrived: number;
  readonly handled: number;
  /** At the end, and at its highest. */
  readonly backlog: number;
  readonly mostBacklog: number;
  /** Sources that moved although their cluster was not lost. */
  readonly movedNeedlessly: number;
}

export function simulate({
  eventsPerSecond,
  sources,
  clusters,
  capacity,
  exponent,
  seconds,
  lostAt = Infinity,
}: Simulation): SimulationResult {
  const rates = zipf(sources, exponent).map((share) => share * eventsPerSecond);
  const all = Array.from({ length: clusters }, (_, index) => index);
  const before = rates.map((_, source) => clusterOf(source, all));
  const after = before.map((cluster, source) => (cluster === 0 ? clusterOf(source, all.slice(1)) : cluster));
  const loads = (owners: readonly number[]): number[] => {
    const sums = all.map(() => 0);
    for (const [source, owner] of owners.entries()) sums[owner] = (sums[owner] ?? 0) + (rates[source] ?? 0);
    return sums;
  };
  const [first, second] = [loads(before), clusters > 1 ? loads(after) : loads(before)];
  const queues = all.map(() => 0);
  let [arrived, handled, mostBacklog] = [0, 0, 0];
  for (let now = 0; now < seconds; now += 1) {
    const current = now < lostAt ? first : second;
    for (const cluster of all) {
      const waiting = (queues[cluster] ?? 0) + (current[cluster] ?? 0);
      // Records in a lost cluster wait there until it is back.
      const done = now >= lostAt && cluster === 0 ? 0 : Math.min(capacity, waiting);
      queues[cluster] = waiting - done;
      arrived += current[cluster] ?? 0;
      handled += done;
    }
    mostBacklog = Math.max(mostBacklog, sum(queues));
  }
  const moved = after.filter((owner, source) => owner !== before[source] && before[source] !== 0);
  return {
    largestSourceShare: Math.max(...rates) / eventsPerSecond,
    busiest: Math.max(...first),
    busiestAfterLoss: Math.max(...second),
    arrived,
    handled,
    mostBacklog,
    backlog: sum(queues),
    movedNeedlessly: moved.length,
  };
}

/** The share of each source: proportional to 1/rank^exponent. */
function zipf(count: number, exponent: number): number[] {
  const weights = Array.from({ length: count }, (_, index) => 1 / (index + 1) ** exponent);
  const total = sum(weights);
  return weights.map((weight) => weight / total);
}

/** Rendezvous hashing: the cluster with the highest hash of source and cluster. */
function clusterOf(source: number, clusters: readonly number[]): number {
  let best = { cluster: clusters[0] ?? 0, score: -1 };
  for (const cluster of clusters) {
    const score = mix(mix(source + 1) ^ Math.imul(cluster + 1, 0x9e3779b1));
    if (score > best.score) best = { cluster, score };
  }
  return best.cluster;
}

/** The finalizer of murmur3: every bit of the result depends on every bit of the number. */
function mix(number: number): number {
  let bits = number;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
