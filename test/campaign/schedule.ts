/** Draws the faults of a campaign: the same seed gives the same list. Which faults may be at the same time is decided here, by what each holds. */
import { seeded } from '@tailrace/testing';

export const services = ['ingest', 'router', 'delivery', 'control'] as const;
export type Service = (typeof services)[number];

/** Everything that faults may disturb. */
export interface Cast {
  /** The number of replicas. */
  readonly replicas: Readonly<Record<Service, number>>;
  readonly brokers: number;
  /** Ids of destinations whose configuration may change. */
  readonly changing: readonly string[];
  /** Ids of destinations whose receivers may be down. */
  readonly unreliable: readonly string[];
  /** Users that may be deleted. */
  readonly users: readonly string[];
}

export interface Fault {
  /** Its place in the whole schedule, also where others are left out. */
  readonly id: number;
  readonly kind: Kind;
  /** `delivery-1`, `broker-2`, a destination, a user; `a>b` is what `a` sends to `b`, `a|b` is both ways, and `a+b` is one after the other. */
  readonly target: string;
  /** When it begins, at the earliest, since the start of the load. */
  readonly atMs: number;
  /** From its begin to its end. */
  readonly durationMs: number;
}

export interface Plan {
  readonly cast: Cast;
  readonly faults: readonly Fault[];
  /** Calls. */
  readonly ratePerSecond: number;
  /** The load lasts longer where faults do. */
  readonly lengthMs: number;
  /** Each fault begins some time after the recovery from the one before, so that its effect can be measured. */
  readonly apart?: boolean;
  /** A commit, for the faults that need the release before; default: that of the test of upgrades. */
  readonly before?: string | undefined;
}

interface Nature {
  /** How often it is drawn, compared to the others. */
  readonly weight: number;
  readonly targets: (cast: Cast) => readonly string[];
  /** The least and the most. */
  readonly lastsMs: readonly [number, number];
  /** Of faults that hold the same thing, one begins when the one before has ended and everything has recovered. */
  readonly holds: (target: string) => readonly string[];
  /** What it holds is never held again. */
  readonly once?: true;
}

export const replicasOf = ({ replicas }: Cast, names: readonly Service[] = services): string[] =>
  names.flatMap((name) => Array.from({ length: replicas[name] }, (_, place) => `${name}-${place + 1}`));
export const brokersOf = ({ brokers }: Cast): string[] =>
  Array.from({ length: brokers }, (_, place) => `broker-${place + 1}`);
/** Pairs of a broker and another broker, or a service. */
const pairsOf = (cast: Cast): (readonly [string, string])[] =>
  brokersOf(cast).flatMap((broker) =>
    [...replicasOf(cast), ...brokersOf(cast).filter((other) => other < broker)].map(
      (other) => [other, broker] as const,
    ),
  );
const bothWays = (cast: Cast): string[] => pairsOf(cast).map((pair) => pair.join('|'));
const oneWay = (cast: Cast): string[] => pairsOf(cast).flatMap(([a, b]) => [`${a}>${b}`, `${b}>${a}`]);

const itself = (target: string): string[] => [target];
/** One broker of three at a time, because two copies of each record must be in sync. */
const aBroker = (): string[] => ['brokers'];
/** A link between two brokers may take one out of sync. */
const ofLink = (target: string): string[] => {
  const services = partiesOf(target).filter((party) => !party.startsWith('broker-'));
  return services.length > 0 ? services : ['brokers'];
};

export const natures = {
  'service killed': { weight: 4, targets: (cast) => replicasOf(cast), lastsMs: [500, 5_000], holds: itself },
  'service stopped': { weight: 2, targets: (cast) => replicasOf(cast), lastsMs: [500, 5_000], holds: itself },
  'service frozen': {
    weight: 3,
    targets: (cast) => replicasOf(cast),
    lastsMs: [1_000, 25_000],
    holds: itself,
  },
  'service slow': { weight: 1, targets: (cast) => replicasOf(cast), lastsMs: [3_000, 20_000], holds: itself },
  'replica joined': {
    weight: 2,
    targets: () => ['router', 'delivery'],
    lastsMs: [2_000, 10_000],
    holds: (target) => [`another ${target}`],
  },
  // A rolling update to the release before, and the upgrade from it.
  'rolled back': {
    weight: 1,
    targets: (cast) => services.map((service) => replicasOf(cast, [service]).join('+')),
    lastsMs: [3_000, 15_000],
    holds: partiesOf,
  },
  'clock jumped': {
    weight: 1,
    targets: (cast) => replicasOf(cast, ['ingest', 'router', 'delivery']),
    lastsMs: [2_000, 20_000],
    holds: itself,
  },
  'clock drifted': {
    weight: 1,
    targets: (cast) => replicasOf(cast, ['ingest', 'router', 'delivery']),
    lastsMs: [5_000, 20_000],
    holds: itself,
  },
  'history lost': {
    weight: 1,
    targets: (cast) => replicasOf(cast, ['control']),
    lastsMs: [500, 3_000],
    holds: itself,
  },
  'broker killed': { weight: 2, targets: brokersOf, lastsMs: [1_000, 10_000], holds: aBroker },
  'broker stopped': { weight: 1, targets: brokersOf, lastsMs: [1_000, 5_000], holds: aBroker },
  'broker frozen': { weight: 2, targets: brokersOf, lastsMs: [1_000, 20_000], holds: aBroker },
  'broker slow': { weight: 1, targets: brokersOf, lastsMs: [3_000, 20_000], holds: aBroker },
  'disk slow': { weight: 1, targets: brokersOf, lastsMs: [3_000, 20_000], holds: aBroker },
  'disk full': { weight: 1, targets: brokersOf, lastsMs: [1_000, 10_000], holds: aBroker },
  'disk lost': { weight: 1, targets: brokersOf, lastsMs: [1_000, 10_000], holds: aBroker },
  'link cut': { weight: 2, targets: bothWays, lastsMs: [1_000, 20_000], holds: ofLink },
  'link cut one way': { weight: 2, targets: oneWay, lastsMs: [1_000, 20_000], holds: ofLink },
  'link slow': { weight: 1, targets: bothWays, lastsMs: [2_000, 20_000], holds: ofLink },
  'link lossy': { weight: 1, targets: bothWays, lastsMs: [2_000, 20_000], holds: ofLink },
  'partitions added': {
    weight: 1,
    targets: () => ['deliveries', 'events'],
    lastsMs: [0, 0],
    holds: () => ['partitions'],
    once: true,
  },
  'destination paused': {
    weight: 1,
    targets: ({ changing }) => changing,
    lastsMs: [3_000, 15_000],
    holds: itself,
  },
  'destination disabled': {
    weight: 1,
    targets: ({ changing }) => changing,
    lastsMs: [3_000, 10_000],
    holds: itself,
  },
  'filter set': { weight: 1, targets: ({ changing }) => changing, lastsMs: [3_000, 10_000], holds: itself },
  'rate limited': { weight: 1, targets: ({ changing }) => changing, lastsMs: [3_000, 10_000], holds: itself },
  'secret changed': { weight: 1, targets: ({ changing }) => changing, lastsMs: [0, 0], holds: itself },
  'user deleted': { weight: 2, targets: ({ users }) => users, lastsMs: [0, 0], holds: itself, once: true },
  'receiver down': {
    weight: 1,
    targets: ({ unreliable }) => unreliable,
    lastsMs: [1_000, 15_000],
    holds: itself,
  },
} as const satisfies Record<string, Nature>;

export type Kind = keyof typeof natures;
export const kinds = Object.keys(natures) as Kind[];

export interface Draw {
  readonly seed: number;
  readonly cast: Cast;
  /** All faults end within it. */
  readonly lengthMs: number;
  /** Mean time between two begins. */
  readonly everyMs: number;
  /** Default: all. */
  readonly kinds?: readonly Kind[];
}

/** Time without faults at the begin, which shows what is normal. */
export const calmMs = 5_000;
/** Time after an end in which what the fault held is left alone. */
const restMs = 2_000;
/** With the kinds and targets at hand there may be none that holds nothing of the others. */
const tries = 20;

export function draw({ seed, cast, lengthMs, everyMs, kinds: wanted = kinds }: Draw): readonly Fault[] {
  const random = seeded(seed);
  const upTo = (least: number, most: number): number => Math.round(least + random() * (most - least));
  const faults: Fault[] = [];
  const heldUntil = new Map<string, number>();
  const total = wanted.reduce((sum, kind) => sum + natures[kind].weight, 0);
  const kindAt = (place: number): Kind | undefined =>
    wanted.find((kind) => (place -= natures[kind].weight) < 0);
  for (let atMs = calmMs; atMs < lengthMs; atMs += upTo(everyMs / 2, everyMs * 1.5)) {
    for (let nth = 0; nth < tries; nth += 1) {
      const kind = kindAt(random() * total);
      if (kind === undefined) continue;
      const nature: Nature = natures[kind];
      const targets = nature.targets(cast);
      const target = targets[Math.floor(random() * targets.length)];
      const durationMs = upTo(...nature.lastsMs);
      if (target === undefined || atMs + durationMs > lengthMs) continue;
      const held = nature.holds(target);
      if (held.some((thing) => (heldUntil.get(thing) ?? 0) > atMs)) continue;
      const until = nature.once ? Infinity : atMs + durationMs + restMs;
      for (const thing of held) heldUntil.set(thing, until);
      faults.push({ id: faults.length + 1, kind, target, atMs, durationMs });
      break;
    }
  }
  return faults;
}

/** Each kind in turn, so many times. They are due at once, for a run that lets each one wait for the recovery from the one before. */
export function drawApart(
  { seed, cast, kinds: wanted = kinds }: Omit<Draw, 'lengthMs' | 'everyMs'>,
  rounds: number,
): readonly Fault[] {
  const random = seeded(seed);
  const turns = Array.from({ length: rounds }, (_, round) => wanted.map((kind) => ({ kind, round })));
  return turns.flat().flatMap(({ kind, round }, nth): Fault[] => {
    const { targets, lastsMs, once }: Nature = natures[kind];
    const all = targets(cast);
    const [least, most] = lastsMs;
    const durationMs = Math.round(least + random() * (most - least));
    const target = all[once ? round : Math.floor(random() * all.length)];
    return target === undefined ? [] : [{ id: nth + 1, kind, target, atMs: calmMs, durationMs }];
  });
}

/** What the fault holds; see {@link Nature.holds}. */
export function heldBy({ kind, target }: Fault): readonly string[] {
  return natures[kind].holds(target);
}

/** The parties that a target names. */
export function partiesOf(target: string): readonly string[] {
  return target.split(/[|>+]/);
}

/** Each way from a party to another that a target names. */
export function waysOf(target: string): readonly (readonly [from: string, to: string])[] {
  const [a = '', b = ''] = partiesOf(target);
  return target.includes('>')
    ? [[a, b]]
    : [
        [a, b],
        [b, a],
      ];
}
