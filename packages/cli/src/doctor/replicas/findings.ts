/** Findings from the reports of all replicas. Pure. */
import { countOf } from '../../terminal/table.ts';
import { findingsAbout, type Finding } from '../finding.ts';
import type { ReplicaReport } from './look.ts';

const replicas = findingsAbout('replicas');
const versions = findingsAbout('versions');
const clock = findingsAbout('clock');

/** Larger than the error of a slow response, and of a Date header, which has whole seconds. */
const maxSkewMs = 5_000;
/** Changes are in force within two seconds; this is an outage of the configuration. */
const configAgeWarningS = 60;
/** A finding names this many replicas, and counts the others. */
const namedAtMost = 5;

export function replicaFindings(reports: readonly ReplicaReport[], prefix: string | undefined): Finding[] {
  return [
    ...[...Map.groupBy(reports, ({ service }) => service)].flatMap(([service, own]) =>
      serviceFindings(service, own),
    ),
    ...foreignFindings(reports, prefix),
    ...versionFindings(reports),
    ...configurationFindings(reports),
    ...clockFindings(reports),
  ];
}

function serviceFindings(service: string, reports: readonly ReplicaReport[]): Finding[] {
  const all = countOf(reports.length, 'replica');
  const findings: Finding[] = [];
  const silent = reports.filter(({ state }) => state === 'silent');
  if (silent.length > 0) {
    findings.push(
      replicas.fail(
        `${service}: ${silent.length} of ${all} cannot be reached: ${named(silent, ({ reason }) => reason)}.`,
        'See its log, and restart it if it hangs. If it runs, check the port, and that this network may reach it.',
      ),
    );
  }
  const unready = reports.filter(({ state }) => state === 'not-ready');
  if (unready.length > 0) {
    findings.push(
      replicas.fail(
        `${service}: ${unready.length} of ${all} not ready: ${named(unready, ({ reason }) => reason)}.`,
        'See its log.',
      ),
    );
  }
  const troubled = reports.filter(({ metrics }) => metrics && metrics.failingChecks.length > 0);
  if (troubled.length > 0) {
    const says = `${service}: checks fail: ${named(troubled, ({ metrics }) => metrics?.failingChecks.join(', '))}.`;
    findings.push(replicas.warn(says, 'See its log, and tailrace_check_ok in its metrics.'));
  }
  if (findings.length > 0) return findings;
  return [replicas.ok(`${service}: ${all} ready`)];
}

/** Whether the replica reads topics of another installation. */
export function isForeign({ metrics }: ReplicaReport, prefix: string | undefined): boolean {
  if (prefix === undefined) return false;
  return metrics?.topics.some((topic) => !topic.startsWith(prefix)) ?? false;
}

/** A port may belong to another installation on the same machine or in the same cluster. */
function foreignFindings(reports: readonly ReplicaReport[], prefix: string | undefined): Finding[] {
  if (prefix === undefined) return [];
  const foreign = reports.filter((report) => isForeign(report, prefix));
  if (foreign.length === 0) return [];
  return [
    replicas.fail(
      `these replicas read topics without the prefix ${prefix}: ${named(foreign, ({ metrics }) => metrics?.topics[0])}.`,
      'They belong to another installation. Correct the address, or TAILRACE_TOPIC_PREFIX.',
    ),
  ];
}

function versionFindings(reports: readonly ReplicaReport[]): Finding[] {
  const known = reports.filter(({ metrics }) => metrics?.version !== undefined);
  const byVersion = Map.groupBy(known, ({ metrics }) => versionOf(metrics?.version, metrics?.revision));
  const [first] = byVersion.keys();
  if (first === undefined) return [];
  if (byVersion.size === 1) return [versions.ok(`all replicas run ${first}`)];
  const counts = [...byVersion].map(([version, own]) => {
    const services = [...new Set(own.map(({ service }) => service))].join(', ');
    return `${version} (${countOf(own.length, 'replica')}: ${services})`;
  });
  return [
    versions.warn(
      `replicas run different versions: ${counts.join('; ')}.`,
      'Expected while an upgrade runs. Otherwise finish it, or roll it back: kubectl rollout status.',
    ),
  ];
}

function versionOf(version = '', revision = ''): string {
  return revision === '' ? version : `${version} (${revision})`;
}

function configurationFindings(reports: readonly ReplicaReport[]): Finding[] {
  const old = reports.filter(({ metrics }) => (metrics?.configAgeSeconds ?? 0) > configAgeWarningS);
  if (old.length === 0) return [];
  const ages = named(old, ({ metrics }) => `${Math.round(metrics?.configAgeSeconds ?? 0)} s`);
  return [
    findingsAbout('config').warn(
      `the configuration of these replicas may be out of date: ${ages}.`,
      'They cannot read the topic config. Check their connection to Kafka and their log.',
    ),
  ];
}

function clockFindings(reports: readonly ReplicaReport[]): Finding[] {
  const known = reports.filter(({ aheadMs }) => aheadMs !== undefined);
  if (known.length === 0) return [];
  const reference = middleOf([0, ...known.map(({ aheadMs = 0 }) => aheadMs)]);
  const aheadOf = ({ aheadMs = 0 }: ReplicaReport): number => aheadMs - reference;
  const wrong = known.filter((report) => Math.abs(aheadOf(report)) > maxSkewMs);
  const findings: Finding[] = [];
  if (wrong.length > 0) {
    findings.push(
      clock.fail(
        `clocks are wrong: ${named(wrong, (report) => skewText(aheadOf(report)))}. Times, ages and delays of retries are off by as much.`,
        'Synchronise the clock of their machine with NTP; chronyc tracking, or timedatectl, shows whether it is.',
      ),
    );
  }
  if (Math.abs(reference) > maxSkewMs) {
    findings.push(
      clock.warn(
        `the clock of this machine is wrong: ${skewText(-reference)}, by those of most replicas.`,
        'Synchronise it with NTP. Periods such as --since 1h are off by as much.',
      ),
    );
  }
  if (findings.length > 0) return findings;
  return [clock.ok('the clocks of the replicas agree with this machine')];
}

/** The clock that is not wrong: the one in the middle, and of two in the middle that which is closer to this machine. */
function middleOf(differencesMs: readonly number[]): number {
  const sorted = differencesMs.toSorted((a, b) => a - b);
  const [low = 0, high = low] = sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1);
  return Math.abs(low) <= Math.abs(high) ? low : high;
}

function skewText(aheadMs: number): string {
  return `${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead' : 'behind'}`;
}

/** Each replica with its detail; long lists are cut. */
function named(
  reports: readonly ReplicaReport[],
  detail: (report: ReplicaReport) => string | undefined,
): string {
  const shown = reports
    .slice(0, namedAtMost)
    .map((report) => `${report.service} ${new URL(report.url).host} (${detail(report) ?? ''})`);
  const more = reports.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
