/** The command line of the ingest bench. */
import { count, readOptions, someOf, type CommandLine } from '../command-line.ts';

/** In the order in which they run. */
export const forms = ['single', 'batch'] as const;
/** How calls are sent: one or twenty in a request. */
export type Form = (typeof forms)[number];

export interface Options {
  readonly forms: readonly Form[];
  readonly warmUp: number;
  readonly events: number;
  readonly runs: number;
  readonly inFlight: number;
  readonly partitions: number;
  readonly jsonFile?: string | undefined;
  readonly profileFolder?: string | undefined;
}

const usage = `Usage: npm run bench:ingest -- [options]

Measures what ingest accepts in a second of CPU time, beside a bare server of fastify and kafkajs in the same run, on
a broker of its own.

  --only LIST       some of ${forms.join(',')}
  --events N        calls in each run of either server        (40000; quick: 2000)
  --runs N          runs of either server, turn about         (3; quick: 1)
  --warm-up N       calls before anything is counted, of each (40000; quick: 1000)
  --in-flight N     requests in flight                        (64)
  --partitions N    of the topic                              (6)
  --quick           small sizes, to see that it works; its figures mean nothing
  --profile FOLDER  ingest leaves a CPU profile there, and its hottest functions are listed
  --json FILE       also writes every figure there
  --help            this text
`;

const full = { warmUp: 40_000, events: 40_000, runs: 3 };
const quick: typeof full = { warmUp: 1_000, events: 2_000, runs: 1 };

export function readCommandLine(args: readonly string[]): CommandLine<Options> {
  return readOptions(
    args,
    {
      usage,
      texts: ['only', 'events', 'runs', 'warm-up', 'in-flight', 'partitions', 'profile', 'json'],
      flags: ['quick'],
    },
    (values) => {
      const sizes = values.quick ? quick : full;
      return {
        forms: someOf(forms, 'only', values.only),
        warmUp: count('warm-up', values['warm-up'], sizes.warmUp),
        events: count('events', values.events, sizes.events),
        runs: count('runs', values.runs, sizes.runs),
        inFlight: count('in-flight', values['in-flight'], 64),
        partitions: count('partitions', values.partitions, 6),
        jsonFile: values.json,
        profileFolder: values.profile,
      };
    },
  );
}
