/** Checks that the services respond and are ready, and that their clocks agree with this machine. */
import { readSettings } from '@tailrace/service';
import { isTailraceError } from '@tailrace/errors';
import { openApi } from '../api/client.ts';
import type { CommandContext } from '../command.ts';
import { doctorServiceSettings } from '../settings.ts';
import type { Finding } from './finding.ts';

const responseTimeoutMs = 5_000;
/** Larger than the error of a Date header, which has whole seconds, and of a slow response. */
const clockSkewWarningMs = 3_000;

const standardProbes = {
  ingest: 'http://localhost:9464',
  router: 'http://localhost:9465',
  delivery: 'http://localhost:9466',
  control: 'http://localhost:9467',
};

interface ServiceResponse {
  readonly status: number;
  readonly body: string;
  /** How far its clock is ahead of this machine; undefined without a Date header. */
  readonly aheadMs: number | undefined;
}

export async function checkServices(
  context: CommandContext,
  {
    ingest = 'http://localhost:8080',
    probes = [],
  }: { readonly ingest: string | undefined; readonly probes: readonly string[] | undefined },
): Promise<Finding[]> {
  const clocks = new Map<string, number>();
  const fetchUrl = async (url: string): Promise<ServiceResponse | string> => {
    const response = await request(url);
    if (typeof response !== 'string' && response.aheadMs !== undefined)
      clocks.set(new URL(url).host, response.aheadMs);
    return response;
  };
  return [
    ...(await checkControl(context, fetchUrl)),
    await checkIngest(ingest, fetchUrl),
    ...(probes.length > 0
      ? await Promise.all(probes.map((url) => checkProbe(url, url, fetchUrl)))
      : await checkStandardProbes(fetchUrl)),
    ...clockFindings(clocks),
  ];
}

/** Resolves with the reason as text if there is no response. */
type Fetch = (url: string) => Promise<ServiceResponse | string>;

async function checkControl(context: CommandContext, fetchUrl: Fetch): Promise<Finding[]> {
  const about = 'control';
  const { url, token } = readApiSettings(context);
  if (url === undefined) return [];
  const response = await fetchUrl(`${url}/openapi.json`);
  if (typeof response === 'string') {
    const hint = 'Start it with npm start or npm run control, or set TAILRACE_URL to its address.';
    return [{ level: 'fail', about, says: `${url} cannot be reached: ${response}.`, hint }];
  }
  if (token === undefined) {
    const hint = 'Set it to a token of the control service, which npm start prints.';
    return [{ level: 'warn', about, says: `${url} responds; TAILRACE_API_TOKEN is not set.`, hint }];
  }
  try {
    await openApi(context).get('/v1/sources', { limit: 1 });
    return [{ level: 'ok', about, says: `${url} responds and accepts the token` }];
  } catch (error) {
    if (!isTailraceError(error)) throw error;
    return [{ level: 'fail', about, says: error.message }];
  }
}

/** Undefined if the settings are invalid, which the check of the settings reports. */
function readApiSettings({ env }: CommandContext) {
  try {
    const { url, token } = readSettings(env, doctorServiceSettings);
    return { url: url.replace(/\/+$/, ''), token };
  } catch {
    return { url: undefined, token: undefined };
  }
}

/** Any response is ok: the probe shows whether ingest is ready. */
async function checkIngest(url: string, fetchUrl: Fetch): Promise<Finding> {
  const about = 'ingest';
  const response = await fetchUrl(url);
  if (typeof response !== 'string') return { level: 'ok', about, says: `${url} responds` };
  const hint = 'Start it with npm start or npm run ingest, or set its address with --ingest.';
  return { level: 'fail', about, says: `${url} cannot be reached: ${response}.`, hint };
}

async function checkStandardProbes(fetchUrl: Fetch): Promise<Finding[]> {
  const found = await Promise.all(
    Object.entries(standardProbes).map(async ([service, url]) => ({
      service,
      finding: await checkProbe(service, url, fetchUrl),
    })),
  );
  const absent = found.filter(({ finding }) => finding.hint === startIt).map(({ service }) => service);
  const findings = found.map(({ finding }) => finding).filter(({ hint }) => hint !== startIt);
  if (absent.length === 0) return findings;
  const says = `${absent.join(', ')}: no probe at the standard port on localhost.`;
  const hint = 'If they run elsewhere, set the address of each with --probe.';
  return [...findings, { level: 'warn', about: 'probes', says, hint }];
}

const startIt = 'Start the service, or correct the URL.';

async function checkProbe(name: string, url: string, fetchUrl: Fetch): Promise<Finding> {
  const about = 'probes';
  const response = await fetchUrl(`${url.replace(/\/+$/, '')}/readyz`);
  if (typeof response === 'string') {
    return { level: 'fail', about, says: `${name}: ${url} cannot be reached: ${response}.`, hint: startIt };
  }
  if (response.status === 200) return { level: 'ok', about, says: `${name} is ready` };
  const says = `${name} is not ready: ${whyNotReady(response)}`;
  return { level: 'fail', about, says, hint: 'See its log.' };
}

function whyNotReady({ status, body }: ServiceResponse): string {
  try {
    const { checks } = JSON.parse(body) as { checks: { name: string; ready: boolean; reason?: string }[] };
    const failing = checks.filter(({ ready }) => !ready);
    if (failing.length > 0) return failing.map(({ name, reason = '' }) => `${name}: ${reason}`).join('; ');
  } catch {
    // Not the response of a probe.
  }
  return `status ${status}.`;
}

async function request(url: string): Promise<ServiceResponse | string> {
  const sentAt = Date.now();
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(responseTimeoutMs) });
    const receivedAt = Date.now();
    const date = Date.parse(response.headers.get('date') ?? '');
    // The header has whole seconds; add half a second on average.
    const aheadMs = date + 500 - (sentAt + receivedAt) / 2;
    return {
      status: response.status,
      body: await response.text(),
      aheadMs: Number.isNaN(aheadMs) ? undefined : Math.round(aheadMs),
    };
  } catch (error) {
    if (error instanceof DOMException) return `no response within ${responseTimeoutMs / 1_000} s`;
    const { cause = error } = error as Error;
    const { code, message } = cause as NodeJS.ErrnoException;
    return code === 'ECONNREFUSED' ? 'nothing listens on this port' : (code ?? message);
  }
}

function clockFindings(clocks: ReadonlyMap<string, number>): Finding[] {
  const about = 'clock';
  if (clocks.size === 0) return [];
  const wrong = [...clocks].filter(([, aheadMs]) => Math.abs(aheadMs) > clockSkewWarningMs);
  if (wrong.length === 0)
    return [{ level: 'ok', about, says: 'the clocks of the services agree with this machine' }];
  return wrong.map(([host, aheadMs]) => ({
    level: 'warn',
    about,
    says:
      `${host} is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine: ` +
      'times in events and delays of retries are off by as much.',
    hint: 'Synchronise both with NTP.',
  }));
}
