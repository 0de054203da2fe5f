/** Checks the services: control's API, ingest, and every replica. */
import { isTailraceError } from '@tailrace/errors';
import { readSettings } from '@tailrace/service';
import { openApi } from '../api/client.ts';
import { UsageError, type CommandContext } from '../command.ts';
import { doctorServiceSettings } from '../settings.ts';
import { checkDestinations } from './destinations.ts';
import { findingsAbout, type Finding } from './finding.ts';
import { isForeign, replicaFindings } from './replicas/findings.ts';
import {
  isRefused,
  lookAtAll,
  requestPatiently,
  responseTimeoutMs,
  type ReplicaReport,
} from './replicas/look.ts';
import { parseTarget, resolve, type Replica, type Target } from './replicas/targets.ts';

const control = findingsAbout('control');
const ingest = findingsAbout('ingest');
const replicas = findingsAbout('replicas');

/** Where to look, as the command line says. */
export interface Places {
  readonly ingest?: string | undefined;
  readonly probes?: readonly string[] | undefined;
  readonly services?: readonly string[] | undefined;
}

export interface ServicesReport {
  readonly findings: readonly Finding[];
  readonly replicas: readonly ReplicaReport[];
}

/** The places to look at. Undefined is left out. */
export interface Plan {
  /** Undefined if the settings are invalid. */
  readonly prefix: string | undefined;
  readonly control: string | undefined;
  readonly ingest: string | undefined;
  readonly targets: readonly Target[];
  /** Replicas by URL. */
  readonly probes: readonly Replica[];
  /** The ports of `npm start`, if nothing else is named. Some services may run elsewhere. */
  readonly local: readonly Replica[];
  /** Whether nothing is named, so that the default ports of `npm start` are looked at. */
  readonly isGuessed: boolean;
}

const portVariables = {
  ingest: 'TAILRACE_INGEST_PORT',
  control: 'TAILRACE_CONTROL_PORT',
  metrics: 'TAILRACE_METRICS_PORT',
} as const;

export async function checkServices(context: CommandContext, plan: Plan): Promise<ServicesReport> {
  const resolved = await resolveAll(plan.targets);
  const [ofControl, ofIngest, named, local] = await Promise.all([
    plan.control === undefined ? [] : checkControl(context, plan.control),
    plan.ingest === undefined ? [] : checkIngest(plan.ingest),
    lookAtAll([...resolved.replicas, ...plan.probes], responseTimeoutMs, requestPatiently),
    lookAtAll(plan.local),
  ]);
  const foreign = plan.isGuessed ? local.filter((report) => isForeign(report, plan.prefix)) : [];
  const own = local.filter((report) => !foreign.includes(report));
  // Normal where services run elsewhere.
  const [absent, present] = [own.filter(isRefused), own.filter((report) => !isRefused(report))];
  const replicas = [...named, ...present];
  return {
    findings: [
      ...ofControl,
      ...ofIngest,
      ...resolved.findings,
      ...replicaFindings(replicas, plan.prefix),
      ...absentFindings(absent),
      ...foreignFindings(foreign),
    ],
    replicas,
  };
}

/**
 * Where anything is named, by an option or a variable, nothing else is looked at: the default ports of this machine may belong
 * to another installation.
 */
export function planOf({ env }: CommandContext, { ingest, probes = [], services = [] }: Places): Plan {
  const settings = settingsOf(env);
  const { url, targets = [], ingestPort, controlPort, metricsPort } = settings ?? {};
  const wanted = services.length > 0 ? services : targets;
  const parsed = wanted.map((text) => {
    const target = parseTarget(text);
    if (target) return target;
    throw new UsageError(`${JSON.stringify(text)} is not a target; write it as router=tailrace-router:9465`);
  });
  const isSet = (variable: string): boolean => (env[variable] ?? '') !== '';
  const isNamed =
    [...parsed, ...probes].length > 0 ||
    ingest !== undefined ||
    ['TAILRACE_URL', ...Object.values(portVariables)].some(isSet);
  const trimmed = (text: string): string => text.replace(/\/+$/, '');
  const atThisMachine = <T>(
    name: keyof typeof portVariables,
    port: number | undefined,
    at: (port: number) => T,
  ): T | undefined => (port === undefined || (isNamed && !isSet(portVariables[name])) ? undefined : at(port));
  const control = url ?? atThisMachine('control', controlPort, atPort);
  const ingestUrl = ingest ?? atThisMachine('ingest', ingestPort, atPort);
  return {
    prefix: settings?.prefix,
    control: control && trimmed(control),
    ingest: ingestUrl && trimmed(ingestUrl),
    targets: parsed,
    probes: probes.map((probe) => ({ service: hostOf(probe), url: trimmed(probe) })),
    local: atThisMachine('metrics', metricsPort, localReplicas) ?? [],
    isGuessed: !isNamed,
  };
}

/** Undefined if the settings are invalid, which the check of the settings reports. */
function settingsOf(env: CommandContext['env']) {
  try {
    return readSettings(env, doctorServiceSettings);
  } catch (error) {
    if (isTailraceError(error, 'invalid-settings')) return undefined;
    throw error;
  }
}

function localReplicas(metricsPort: number): Replica[] {
  return ['ingest', 'router', 'delivery', 'control'].map((service, index) => ({
    service,
    url: atPort(metricsPort + index),
  }));
}

function atPort(port: number): string {
  return `http://localhost:${port}`;
}

function hostOf(url: string): string {
  if (!URL.canParse(url))
    throw new UsageError(`${JSON.stringify(url)} is not a URL; write it as http://10.1.2.3:9465`);
  return new URL(url).hostname;
}

async function resolveAll(targets: readonly Target[]) {
  const found = await Promise.all(
    targets.map(async (target) => ({ target, resolved: await resolve(target) })),
  );
  const findings = found.flatMap(({ target: { service, host }, resolved }): Finding[] => {
    if (resolved.outcome === 'found') return [];
    if (resolved.outcome === 'none') {
      const hint =
        'Check the name, and that replicas run. In Kubernetes it is a headless Service with publishNotReadyAddresses: true.';
      return [replicas.fail(`${service}: ${host} has no address.`, hint)];
    }
    const says = `${service}: the addresses of ${host} cannot be looked up: ${resolved.reason}.`;
    return [replicas.unknown(says, 'Check the DNS of the machine or pod that runs doctor.')];
  });
  return {
    findings,
    replicas: found.flatMap(({ resolved }) => (resolved.outcome === 'found' ? resolved.replicas : [])),
  };
}

async function checkControl(context: CommandContext, url: string): Promise<Finding[]> {
  const response = await requestPatiently(`${url}/openapi.json`);
  if (typeof response === 'string') {
    const hint = 'Start it (in Kubernetes, look at its pod), or set TAILRACE_URL to its address.';
    return [control.fail(`${url} cannot be reached: ${response}.`, hint)];
  }
  const { token } = readSettings(context.env, doctorServiceSettings);
  if (token === undefined) {
    const hint = 'Set it to a token of the control service.';
    return [control.warn(`${url} responds; TAILRACE_API_TOKEN is not set.`, hint)];
  }
  try {
    const api = openApi({ ...context, env: { ...context.env, TAILRACE_URL: url } });
    await api.get('/v1/destinations', { limit: 1 });
    const says = `${url} responds and accepts the token`;
    return [control.ok(says), ...(await checkDestinations(api))];
  } catch (error) {
    if (!isTailraceError(error)) throw error;
    return [control.fail(error.message)];
  }
}

/** Any response is ok: its replicas show whether ingest is ready. */
async function checkIngest(url: string): Promise<Finding[]> {
  const response = await requestPatiently(url);
  if (typeof response !== 'string') return [ingest.ok(`${url} responds`)];
  const hint = 'Start it (in Kubernetes, look at its pod), or set its address with --ingest.';
  return [ingest.fail(`${url} cannot be reached: ${response}.`, hint)];
}

/** Default ports may be used by another installation on this machine, which is then not looked at. */
function foreignFindings(foreign: readonly ReplicaReport[]): Finding[] {
  if (foreign.length === 0) return [];
  const named = foreign.map(({ service, url }) => `${service} (${new URL(url).host})`).join(', ');
  const says = `another installation, which is not looked at, uses the default ports: ${named}.`;
  const hint =
    'Set TAILRACE_INGEST_PORT, TAILRACE_CONTROL_PORT and TAILRACE_METRICS_PORT as for the services, or use --service.';
  return [replicas.warn(says, hint)];
}

function absentFindings(absent: readonly ReplicaReport[]): Finding[] {
  if (absent.length === 0) return [];
  const says = `${absent.map(({ service, url }) => `${service} (${new URL(url).host})`).join(', ')}: nothing listens there.`;
  const hint = 'If they run elsewhere, name them with --service or --probe.';
  return [replicas.warn(says, hint)];
}
