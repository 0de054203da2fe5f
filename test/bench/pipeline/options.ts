/** The command line of the pipeline bench. */
import { count, readOptions, someOf, type CommandLine } from '../command-line.ts';
import { spacings, type Spacing } from '../load/at-rate.ts';

/** In the order in which they run. */
export const sections = ['burst', 'steady', 'soak', 'parts', 'chain', 'limit'] as const;
export type Section = (typeof sections)[number];

export interface Options {
  readonly sections: readonly Section[];
  readonly warmUp: number;
  readonly events: number;
  readonly runs: number;
  readonly inFlight: number;
  readonly rate: number;
  readonly rateSeconds: number;
  readonly spacing: Spacing;
  readonly soakEvents: number;
  readonly partitions: number;
  readonly jsonFile?: string | undefined;
  readonly profileFolder?: string | undefined;
}

const usage = `Usage: npm run bench -- [options]

Measure the whole pipeline, from ingest to the receiver, and its bare parts, on a broker of its own.

  --events N        calls in each burst, and of each bare part  (20000; quick: 2000)
  --runs N          bursts, and runs of each bare part          (3)
  --in-flight N     calls in flight in a burst                  (64)
  --rate N          calls a second in the steady run            (200)
  --rate-seconds N  length of the steady run                    (30; quick: 5)
  --arrivals KIND   ${spacings.join(' or ')}: independent calls, or always the same time apart  (${spacings[0]})
  --soak-events N   calls of the soak                           (60000; quick: 4000)
  --warm-up N       calls before anything is counted            (40000; quick: 2000)
  --partitions N    of every topic                              (6)
  --only LIST       run only these of ${sections.join(',')}
  --peers           burst, steady and limit, in the table that other products are measured with
  --quick           use small sizes, to check that it works; the figures mean nothing
  --profile FOLDER  write a CPU profile of each service there, and list its hottest functions
  --json FILE       write every figure to FILE too
  --help            show this text
`;

const full = { warmUp: 40_000, events: 20_000, rateSeconds: 30, soakEvents: 60_000 };
const quick = { warmUp: 2_000, events: 2_000, rateSeconds: 5, soakEvents: 4_000 };

export function readCommandLine(args: readonly string[]): CommandLine<Options> {
  return readOptions(
    args,
    {
      usage,
      texts: [
        'events',
        'runs',
        'in-flight',
        'rate',
        'rate-seconds',
        'arrivals',
        'soak-events',
        'warm-up',
        'partitions',
        'only',
        'profile',
        'json',
      ],
      flags: ['peers', 'quick'],
    },
    (values) => {
      const sizes = values.quick ? quick : full;
      const { arrivals = spacings[0] } = values;
      const spacing = spacings.find((known) => known === arrivals);
      if (!spacing) throw new Error(`--arrivals takes ${spacings.join(' or ')}`);
      return {
        sections: someOf(sections, 'only', values.peers ? 'burst,steady,limit' : values.only),
        warmUp: count('warm-up', values['warm-up'], sizes.warmUp),
        events: count('events', values.events, sizes.events),
        runs: count('runs', values.runs, 3),
        inFlight: count('in-flight', values['in-flight'], 64),
        rate: count('rate', values.rate, 200),
        rateSeconds: count('rate-seconds', values['rate-seconds'], sizes.rateSeconds),
        spacing,
        soakEvents: count('soak-events', values['soak-events'], sizes.soakEvents),
        partitions: count('partitions', values.partitions, 6),
        jsonFile: values.json,
        profileFolder: values.profile,
      };
    },
  );
}
