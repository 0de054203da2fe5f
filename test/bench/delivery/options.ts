/** The command line of the delivery bench. */
import { count, readOptions, someOf, type CommandLine } from '../command-line.ts';

/** In the order in which the scenarios run. */
export const scenarios = [
  ...(['cost', 'isolation', 'fleet', 'overload', 'punctual', 'backlog'] as const),
  ...([
    'one-bad',
    'many-bad',
    'rate-limited',
    'same-origin',
    'ten-thousand',
    'burst',
    'recovery',
    'replace',
  ] as const),
] as const;
export type Scenario = (typeof scenarios)[number];

export const overloads = ['serial', 'throttling', 'dead'] as const;
export type Overload = (typeof overloads)[number];

/** How a failing destination fails. */
export const badKinds = [
  ...(['fails', 'fails-late', 'silent', 'refuses', 'resets'] as const),
  ...(['slow', 'trickles', 'throttles', 'dead-name', 'self-signed'] as const),
] as const;
export type BadKind = (typeof badKinds)[number];

export interface Options {
  readonly scenarios: readonly Scenario[];
  readonly overloads: readonly Overload[];
  readonly badKinds: readonly BadKind[];
  readonly warmUp: number;
  readonly runs: number;
  readonly events: number;
  /** Deliveries a second, for all destinations together. */
  readonly rate: number;
  readonly seconds: number;
  readonly fleetEvents: number;
  readonly fleetRate: number;
  readonly overloadSeconds: number;
  readonly waiting: number;
  readonly backlog: number;
  readonly besideSeconds: number;
  readonly bad: number;
  readonly badRate: number;
  readonly limited: number;
  readonly destinations: number;
  readonly burst: number;
  readonly downSeconds: number;
  readonly partitions: number;
  readonly jsonFile?: string | undefined;
  readonly profileFolder?: string | undefined;
}

const usage = `Usage: npm run bench:delivery -- [options]

Measure the delivery service alone, on its own broker: the cost of a delivery, and how failing receivers affect
healthy ones.

  --only LIST           some of ${scenarios.join(',')}
  --overload LIST       some of ${overloads.join(',')}
  --kinds LIST          one-bad, many-bad, ten-thousand: how the bad ones fail, some of
                        ${badKinds.join(',')}
  --events N            cost: deliveries in each run                 (20000; quick: 1000)
  --runs N              cost, isolation, one-bad, many-bad, rate-limited, same-origin,
                        ten-thousand, burst: runs of each kind       (3; quick: 1)
  --rate N              isolation, replace: deliveries a second, together (500; quick: 200)
  --seconds N           isolation: length of a run; replace: of the part before (20; quick: 4)
  --fleet-events N      fleet: deliveries                            (10000; quick: 1000)
  --fleet-rate N        fleet: deliveries a second in the paced run  (1000; quick: 500)
  --overload-seconds N  overload: length of the inflow               (60; quick: 10; long: 600)
  --waiting N           punctual: records that wait in retry topics  (100000; quick: 4000)
  --backlog N           backlog: records                             (200000; quick: 5000; long: 1000000)
  --beside-seconds N    one-bad, many-bad, rate-limited, same-origin, ten-thousand:
                        length of a run                              (30; quick: 5)
  --bad N               many-bad: bad destinations                   (1000; quick: 50)
  --bad-rate N          many-bad, ten-thousand: deliveries a second to the bad ones,
                        together                                     (500; quick: 100)
  --limited N           rate-limited: destinations with a limit      (300; quick: 20)
  --destinations N      ten-thousand: destinations, 5 % of them bad  (10000; quick: 200)
  --burst N             burst: deliveries                            (20000; quick: 1000)
  --down-seconds N      recovery: how long the receiver is down      (60; quick: 12)
  --warm-up N           deliveries before measuring starts           (20000; quick: 500)
  --partitions N        partitions of every topic                    (6)
  --quick               use small sizes, to check that the bench works; the figures mean nothing
  --long                use the sizes of the goals; takes about an hour and a half longer
  --profile FOLDER      write a CPU profile of each service process there, and list the hottest functions
  --json FILE           write every figure to FILE too
  --help                print this text
`;

const defaults = {
  warmUp: 20_000,
  runs: 3,
  events: 20_000,
  rate: 500,
  seconds: 20,
  fleetEvents: 10_000,
  fleetRate: 1_000,
  overloadSeconds: 60,
  waiting: 100_000,
  backlog: 200_000,
  besideSeconds: 30,
  bad: 1_000,
  badRate: 500,
  limited: 300,
  destinations: 10_000,
  burst: 20_000,
  downSeconds: 60,
};
const quick: typeof defaults = {
  warmUp: 500,
  runs: 1,
  events: 1_000,
  rate: 200,
  seconds: 4,
  fleetEvents: 1_000,
  fleetRate: 500,
  overloadSeconds: 10,
  waiting: 4_000,
  backlog: 5_000,
  besideSeconds: 5,
  bad: 50,
  badRate: 100,
  limited: 20,
  destinations: 200,
  burst: 1_000,
  downSeconds: 12,
};
const long: typeof defaults = { ...defaults, overloadSeconds: 600, backlog: 1_000_000 };

export function readCommandLine(args: readonly string[]): CommandLine<Options> {
  return readOptions(
    args,
    {
      usage,
      texts: [
        'only',
        'overload',
        'kinds',
        'events',
        'runs',
        'rate',
        'seconds',
        'fleet-events',
        'fleet-rate',
        'overload-seconds',
        'waiting',
        'backlog',
        'beside-seconds',
        'bad',
        'bad-rate',
        'limited',
        'destinations',
        'burst',
        'down-seconds',
        'warm-up',
        'partitions',
        'profile',
        'json',
      ],
      flags: ['quick', 'long'],
    },
    (values) => {
      if (values.quick && values.long)
        throw new Error('--quick and --long cannot be combined; give one of them');
      const sizes = values.quick ? quick : values.long ? long : defaults;
      return {
        scenarios: someOf(scenarios, 'only', values.only),
        overloads: someOf(overloads, 'overload', values.overload),
        badKinds: someOf(badKinds, 'kinds', values.kinds),
        warmUp: count('warm-up', values['warm-up'], sizes.warmUp),
        runs: count('runs', values.runs, sizes.runs),
        events: count('events', values.events, sizes.events),
        rate: count('rate', values.rate, sizes.rate),
        seconds: count('seconds', values.seconds, sizes.seconds),
        fleetEvents: count('fleet-events', values['fleet-events'], sizes.fleetEvents),
        fleetRate: count('fleet-rate', values['fleet-rate'], sizes.fleetRate),
        overloadSeconds: count('overload-seconds', values['overload-seconds'], sizes.overloadSeconds),
        waiting: count('waiting', values.waiting, sizes.waiting),
        backlog: count('backlog', values.backlog, sizes.backlog),
        besideSeconds: count('beside-seconds', values['beside-seconds'], sizes.besideSeconds),
        bad: count('bad', values.bad, sizes.bad),
        badRate: count('bad-rate', values['bad-rate'], sizes.badRate),
        limited: count('limited', values.limited, sizes.limited),
        destinations: count('destinations', values.destinations, sizes.destinations),
        burst: count('burst', values.burst, sizes.burst),
        downSeconds: count('down-seconds', values['down-seconds'], sizes.downSeconds),
        partitions: count('partitions', values.partitions, 6),
        jsonFile: values.json,
        profileFolder: values.profile,
      };
    },
  );
}
