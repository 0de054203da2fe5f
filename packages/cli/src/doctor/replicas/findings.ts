/** Findings from the reports of all replicas. Pure. */
import { countOf } from '../../terminal/table.ts';
import type { Finding } from '../finding.ts';
import type { ReplicaReport } from './look.ts';

/** Larger than the error of a Date header, which has whole seconds, and of a slow response. */
const clockSkewWarningMs = 3_000;
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
  const about = 'replicas';
  const all = countOf(reports.length, 'replica');
  const findings: Finding[] = [];
  const silent = reports.filter(({ state }) => state === 'silent');
  if (silent.length > 0) {
    findings.push({
      level: 'fail',
      about,
      says: `${service}: ${silent.length} of ${all} cannot be reached: ${named(silent, ({ reason }) => reason)}.`,
      hint: 'See its log, and restart it if it hangs. If it runs, check the port, and that this network may reach it.',
    });
  }
  const unready = reports.filter(({ state }) => state === 'not-ready');
  if (unready.length > 0) {
    findings.push({
      level: 'fail',
      about,
      says: `${service}: ${unready.length} of ${all} not ready: ${named(unready, ({ reason }) => reason)}.`,
      hint: 'See its log.',
    });
  }
  const troubled = reports.filter(({ metrics }) => metrics && metrics.failingChecks.length > 0);
  if (troubled.length > 0) {
    const says = `${service}: checks fail: ${named(troubled, ({ metrics }) => metrics?.failingChecks.join(', '))}.`;
    findings.push({ level: 'warn', about, says, hint: 'See its log, and tailrace_check_ok in its metrics.' });
  }
  if (findings.length > 0) return findings;
  return [{ level: 'ok', about, says: `${service}: ${all} ready` }];
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
    {
      level: 'fail',
      about: 'replicas',
      says: `these replicas read topics without the prefix ${prefix}: ${named(foreign, ({ metrics }) => metrics?.topics[0])}.`,
      hint: 'They belong to another installation. Correct the address, or TAILRACE_TOPIC_PREFIX.',
    },
  ];
}

function versionFindings(reports: readonly ReplicaReport[]): Finding[] {
  const about = 'versions';
  const known = reports.filter(({ metrics }) => metrics?.version !== undefined);
  const byVersion = Map.groupBy(known, ({ metrics }) => versionOf(metrics?.version, metrics?.revision));
  const [first] = byVersion.keys();
  if (first === undefined) return [];
  if (byVersion.size === 1) return [{ level: 'ok', about, says: `all replicas run ${first}` }];
  const counts = [...byVersion].map(([version, own]) => {
    const services = [...new Set(own.map(({ service }) => service))].join(', ');
    return `${version} (${countOf(own.length, 'replica')}: ${services})`;
  });
  return [
    {
      level: 'warn',
      about,
      says: `replicas run different versions: ${counts.join('; ')}.`,
      hint: 'Expected while an upgrade runs. Otherwise finish it, or roll it back: kubectl rollout status.',
    },
  ];
}

function versionOf(version = '', revision = ''): string {
  return revision === '' ? version : `${version} (${revision})`;
}

function configurationFindings(reports: readonly ReplicaReport[]): Finding[] {
  const old = reports.filter(({ metrics }) => (metrics?.configAgeSeconds ?? 0) > configAgeWarningS);
  if (old.length === 0) return [];
  return [
    {
      level: 'warn',
      about: 'config',
      says: `the configuration of these replicas may be out of date: ${named(old, ({ metrics }) => `${Math.round(metrics?.configAgeSeconds ?? 0)} s`)}.`,
      hint: 'They cannot read the topic config. Check their connection to Kafka and their log.',
    },
  ];
}

function clockFindings(reports: readonly ReplicaReport[]): Finding[] {
  const about = 'clock';
  const known = reports.filter(({ aheadMs }) => aheadMs !== undefined);
  if (known.length === 0) return [];
  const wrong = known.filter(({ aheadMs = 0 }) => Math.abs(aheadMs) > clockSkewWarningMs);
  if (wrong.length === 0)
    return [{ level: 'ok', about, says: 'the clocks of the replicas agree with this machine' }];
  const skew = ({ aheadMs = 0 }: ReplicaReport): string =>
    `${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead' : 'behind'}`;
  return [
    {
      level: 'warn',
      about,
      says: `clocks differ from this machine: ${named(wrong, skew)}. Times in events and delays of retries are off by as much.`,
      hint: 'Synchronise both with NTP.',
    },
  ];
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
