/** The command line of a campaign. */
import { count, readOptions, someOf, type CommandLine } from '../bench/command-line.ts';
import { kinds, type Kind } from './schedule.ts';

export interface Options {
  readonly seed: number;
  readonly lengthMs: number;
  readonly events: number;
  readonly faultEveryMs: number;
  readonly replicas: number;
  readonly kinds: readonly Kind[];
  /** Ids of the faults that are kept; undefined for all. */
  readonly keep: readonly number[] | undefined;
  readonly shrink: boolean;
  /** Only the schedule is printed. */
  readonly dry: boolean;
  /** The folder of the reports. */
  readonly out: string;
}

const usage = `Usage: npm run campaign -- [options]

Disturb brokers, services, links, clocks and the configuration under load, and judge that every promise holds. The same seed
draws the same faults. The exit code is 1 if a promise was broken, and 2 for a mistake in the options.

  --seed N            draws the faults                           (1)
  --minutes N         length of the load                         (2)
  --hours N           the same in hours
  --events N          calls that are sent in this time           (10 a second)
  --fault-every N     mean time between faults, in seconds       (10)
  --replicas N        of each service                            (2)
  --only LIST         kinds of faults, separated by commas
  --keep LIST         of the faults that are drawn, only those with these numbers
  --shrink            after a failure, run again with fewer faults while it stays
  --dry-run           print the schedule, and run nothing
  --out FOLDER        for report.json and report.md              (test/.results/campaign)
  --help              show this text

Kinds of faults: ${kinds.join(', ')}.
`;

export function readCommandLine(args: readonly string[]): CommandLine<Options> {
  return readOptions(
    args,
    {
      usage,
      texts: ['seed', 'minutes', 'hours', 'events', 'fault-every', 'replicas', 'only', 'keep', 'out'],
      flags: ['shrink', 'dry-run'],
    },
    (values) => {
      const hours = values.hours === undefined ? 0 : count('hours', values.hours, 0);
      const minutes = hours > 0 ? hours * 60 : count('minutes', values.minutes, 2);
      return {
        seed: count('seed', values.seed, 1),
        lengthMs: minutes * 60_000,
        events: count('events', values.events, minutes * 600),
        faultEveryMs: count('fault-every', values['fault-every'], 10) * 1_000,
        replicas: count('replicas', values.replicas, 2),
        kinds: someOf(kinds, 'only', values.only),
        keep: values.keep?.split(',').map((id) => count('keep', id.trim(), NaN)),
        shrink: values.shrink ?? false,
        dry: values['dry-run'] ?? false,
        out: values.out ?? 'test/.results/campaign',
      };
    },
  );
}
