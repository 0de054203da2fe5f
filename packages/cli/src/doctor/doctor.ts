/** `tailrace doctor`: checks the whole installation, and says how to fix problems. */
import { exitCodes, type ExitCode, type Run } from '../command.ts';
import { countOf, printable } from '../terminal/table.ts';
import { findingsAbout, type Finding } from './finding.ts';
import { checkKafka, type KafkaReport } from './kafka.ts';
import type { ReplicaReport } from './replicas/look.ts';
import { checkEvent } from './event.ts';
import { checkServices, planOf } from './services.ts';
import { checkSettings } from './settings.ts';
import { coloured } from '../terminal/coloured.ts';

const colours = { ok: 'green', warn: 'yellow', fail: 'red', unknown: 'magenta' } as const;

/** Of the JSON that `--output json` writes. A later version only adds fields. */
const formatVersion = 1;

interface Values {
  readonly event?: string;
  readonly ingest?: string;
  readonly probe?: readonly string[];
  readonly service?: readonly string[];
}

export const doctor: Run<Values> = async ({ event, ingest, probe: probes, service: services }, context) => {
  const { terminal } = context;
  const plan = planOf(context, { ingest, probes, services });
  terminal.progress('Checking Kafka and the services');
  const [kafka, { replicas, ...checked }] = await Promise.all([
    checkKafka(context),
    checkServices(context, plan),
  ]);
  if (event !== undefined) terminal.progress('Sending an event');
  const findings = [
    ...checkSettings(context.env),
    ...kafka.findings,
    ...checked.findings,
    ...membershipFindings(replicas, kafka.members),
    ...(event === undefined ? [] : [await checkEvent(context, event, plan)]),
  ];
  const result = resultOf(findings);
  const count = (level: Finding['level']): number =>
    findings.filter((finding) => finding.level === level).length;
  const failures = count('fail');
  const verdict = [
    failures > 0 ? countOf(failures, 'failure') : 'No failures',
    countOf(count('warn'), 'warning'),
    ...(count('unknown') > 0 ? [`${count('unknown')} could not be checked`] : []),
  ];
  return {
    exitCode: exitCodeOf[result],
    text: [...findings.flatMap(linesOf), `${verdict.join(', ')}.`],
    json: {
      version: formatVersion,
      result,
      checkedAt: new Date().toISOString(),
      findings,
      replicas: replicas.map(replicaJson),
      topics: kafka.topics,
      lag: kafka.lags,
    },
  };
};

type Result = 'ok' | 'problems' | 'unknown';

const exitCodeOf: Readonly<Record<Result, ExitCode>> = {
  ok: exitCodes.done,
  problems: exitCodes.failed,
  unknown: exitCodes.usage,
};

/** A failure is certain; without one, a part that could not be checked may hide one. */
function resultOf(findings: readonly Finding[]): Result {
  if (findings.some(({ level }) => level === 'fail')) return 'problems';
  return findings.some(({ level }) => level === 'unknown') ? 'unknown' : 'ok';
}

/** A replica that is ready but not in its consumer group has no work. */
function membershipFindings(replicas: readonly ReplicaReport[], members: KafkaReport['members']): Finding[] {
  if (!members) return [];
  return (['router', 'delivery'] as const).flatMap((service): Finding[] => {
    const ready = replicas.filter(
      (replica) => replica.service === service && replica.state === 'ready',
    ).length;
    if (members[service] >= ready) return [];
    const says = `${countOf(ready, 'replica')} of ${service} ready, but its consumer group has ${countOf(members[service], 'member')}.`;
    const hint = 'A rebalance may be running. Run doctor again in a minute.';
    return [findingsAbout(service).warn(says, hint)];
  });
}

function replicaJson({ service, url, state, reason, aheadMs, metrics }: ReplicaReport) {
  return {
    service,
    url,
    state,
    reason: reason ?? null,
    version: metrics?.version ?? null,
    revision: metrics?.revision ?? null,
    clockAheadMs: aheadMs ?? null,
    failingChecks: metrics?.failingChecks ?? [],
    configAgeSeconds: metrics?.configAgeSeconds ?? null,
    lagSeconds: metrics?.lagSeconds ?? {},
  };
}

function linesOf({ level, about, says, hint }: Finding): string[] {
  const indent = ' '.repeat(22);
  return [
    `${coloured(colours[level], level.padEnd(7))}  ${about.padEnd(11)}  ${printable(says)}`,
    ...(hint === undefined ? [] : [`${indent}${printable(hint)}`]),
  ];
}
