/** The command line of a campaign. */
import { count, readOptions, someOf, type CommandLine } from '../bench/command-line.ts';
import { kinds, type Kind } from './schedule.ts';

export interface Options {
  readonly seeds: readonly number[];
  readonly lengthMs: number;
  /** Calls. */
  readonly ratePerSecond: number;
  readonly faultEveryMs: number;
  /** How often each kind of fault has its turn where one waits for the recovery from the other; undefined where they overlap. */
  readonly apart: number | undefined;
  readonly replicas: number;
  readonly kinds: readonly Kind[];
  /** Ids of the faults that are kept; undefined for all. */
  readonly keep: readonly number[] | undefined;
  /** A commit: the release before. */
  readonly before: string | undefined;
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
  --seeds LIST        several, one after the other: 1..20,30. It stops at a broken promise; started again, it continues
  --minutes N         length of the load                         (2)
  --hours N           the same in hours
  --rate N            calls a second                             (10)
  --events N          instead: calls that are sent in this time
  --fault-every N     mean time between faults, in seconds       (10)
  --apart N           each kind of fault N times, one after the recovery from the other, which is measured
  --replicas N        of each service                            (2)
  --only LIST         kinds of faults, separated by commas
  --keep LIST         of the faults that are drawn, only those with these numbers
  --before COMMIT     the release before, for rolling upgrades
  --shrink            after a failure, run again with fewer faults while it stays
  --dry-run           print the schedule, and run nothing
  --out FOLDER        for report.json, report.md and report.svg  (test/.results/campaign)
  --help              show this text

Kinds of faults: ${kinds.join(', ')}.
`;

export function readCommandLine(args: readonly string[]): CommandLine<Options> {
  return readOptions(
    args,
    {
      usage,
      texts: [
        'seed',
        'seeds',
        'minutes',
        'hours',
        'rate',
        'events',
        'fault-every',
        'apart',
        'replicas',
        'only',
        'keep',
        'before',
        'out',
      ],
      flags: ['shrink', 'dry-run'],
    },
    (values) => {
      const hours = values.hours === undefined ? 0 : count('hours', values.hours, 0);
      const seconds = (hours > 0 ? hours * 60 : count('minutes', values.minutes, 2)) * 60;
      const events = count('events', values.events, count('rate', values.rate, 10) * seconds);
      return {
        seeds: seedsIn(values.seeds ?? values.seed ?? '1'),
        lengthMs: seconds * 1_000,
        ratePerSecond: events / seconds,
        faultEveryMs: count('fault-every', values['fault-every'], 10) * 1_000,
        apart: values.apart === undefined ? undefined : count('apart', values.apart, 1),
        replicas: count('replicas', values.replicas, 2),
        kinds: someOf(kinds, 'only', values.only),
        keep: values.keep?.split(',').map((id) => count('keep', id.trim(), NaN)),
        before: values.before,
        shrink: values.shrink ?? false,
        dry: values['dry-run'] ?? false,
        out: values.out ?? 'test/.results/campaign',
      };
    },
  );
}

/** `1..3,7` is 1, 2, 3 and 7. */
function seedsIn(text: string): readonly number[] {
  return text.split(',').flatMap((part) => {
    const [first = NaN, last = first] = part.split('..').map((seed) => count('seeds', seed.trim(), NaN));
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, nth) => first + nth);
  });
}
