/** The few metrics that `doctor` reads from the text of `/metrics` (Prometheus exposition format). */

export interface ReplicaMetrics {
  /** `version` and `revision` of the build; undefined for releases without that metric. */
  readonly version: string | undefined;
  readonly revision: string | undefined;
  /** The time of its clock, in seconds since 1970. */
  readonly clockSeconds: number | undefined;
  /** The names of checks that fail. */
  readonly failingChecks: readonly string[];
  /** Since the configuration was last known to be current. */
  readonly configAgeSeconds: number | undefined;
  /** By topic, the age of the oldest unfinished record; a topic is absent while it is unknown. */
  readonly lagSeconds: Readonly<Record<string, number>>;
  /** The topics that the replica reads. They show the prefix of its installation. */
  readonly topics: readonly string[];
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const sampleForm = /^(tailrace_[a-z_]+)(?:\{(.*)\})? (\S+)/;
const labelForm = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g;

export function readMetrics(text: string): ReplicaMetrics {
  const samples = text.split('\n').flatMap(sampleOf);
  const named = (name: string): Sample[] => samples.filter((sample) => sample.name === name);
  const [build] = named('tailrace_build_info');
  const finite = (name: string): number | undefined =>
    named(name)
      .map(({ value }) => value)
      .find(Number.isFinite);
  const lag = named('tailrace_consumer_lag_seconds').filter(({ value }) => Number.isFinite(value));
  const topics = [...lag, ...named('tailrace_consumer_lag_records')].flatMap(
    ({ labels }) => labels['topic'] ?? [],
  );
  return {
    version: build?.labels['version'],
    revision: build?.labels['revision'],
    failingChecks: named('tailrace_check_ok').flatMap(({ labels, value }) =>
      value === 0 ? [labels['check'] ?? ''] : [],
    ),
    clockSeconds: finite('tailrace_clock_seconds'),
    configAgeSeconds: finite('tailrace_config_age_seconds'),
    lagSeconds: Object.fromEntries(lag.map(({ labels, value }) => [labels['topic'] ?? '', value])),
    topics: [...new Set(topics)],
  };
}

function sampleOf(line: string): Sample[] {
  const [, name, labels = '', value] = sampleForm.exec(line) ?? [];
  if (name === undefined) return [];
  const pairs = [...labels.matchAll(labelForm)].map(
    ([, key = '', text = '']) => [key, unescape(text)] as const,
  );
  return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
}

function unescape(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
}
