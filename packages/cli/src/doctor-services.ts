/** Whether the services answer, say that they are ready, and agree with this machine about the time. */
import { readSettings } from '@tailrace/service';
import { isTailraceError } from '@tailrace/errors';
import { openApi } from './api.ts';
import type { CommandContext } from './command.ts';
import type { Finding } from './doctor.ts';
import { doctorServiceSettings } from './settings.ts';

const answerWithinMs = 5_000;
/** Beyond what a Date header, which is in whole seconds, and a slow answer make uncertain. */
const skewToWarnOfMs = 3_000;

const standardProbes = {
  ingest: 'http://localhost:9464',
  router: 'http://localhost:9465',
  delivery: 'http://localhost:9466',
  control: 'http://localhost:9467',
};

interface Answer {
  readonly status: number;
  readonly body: string;
  /** How far its clock is ahead of ours, where it says what time it is. */
  readonly aheadMs: number | undefined;
}

export async function checkServices(
  context: CommandContext,
  {
    ingest = 'http://localhost:8080',
    probes,
  }: { readonly ingest: string | undefined; readonly probes: readonly string[] },
): Promise<Finding[]> {
  const clocks = new Map<string, number>();
  const look = async (url: string): Promise<Answer | string> => {
    const answer = await ask(url);
    if (typeof answer !== 'string' && answer.aheadMs !== undefined)
      clocks.set(new URL(url).host, answer.aheadMs);
    return answer;
  };
  return [
    ...(await checkControl(context, look)),
    await checkIngest(ingest, look),
    ...(probes.length > 0
      ? await Promise.all(probes.map((url) => checkProbe(url, url, look)))
      : await checkStandardProbes(look)),
    ...clockFindings(clocks),
  ];
}

type Look = (url: string) => Promise<Answer | string>;

async function checkControl(context: CommandContext, look: Look): Promise<Finding[]> {
  const about = 'control';
  const { url, token } = readUsable(context);
  if (url === undefined) return [];
  const answer = await look(`${url}/openapi.json`);
  if (typeof answer === 'string') {
    const hint = 'Start it with npm start or npm run control, or set TAILRACE_URL to where it runs.';
    return [{ level: 'fail', about, says: `${url} cannot be reached: ${answer}.`, hint }];
  }
  if (token === undefined) {
    const hint = 'Set it to a token of the control service, which npm start prints.';
    return [{ level: 'warn', about, says: `${url} answers; TAILRACE_API_TOKEN is not set.`, hint }];
  }
  try {
    await openApi(context).get('/v1/sources', { limit: 1 });
    return [{ level: 'ok', about, says: `${url} answers, and knows the token` }];
  } catch (error) {
    if (!isTailraceError(error)) throw error;
    return [{ level: 'fail', about, says: error.message }];
  }
}

/** Nothing where the settings are wrong, which has been told of. */
function readUsable({ env }: CommandContext) {
  try {
    const { url, token } = readSettings(env, doctorServiceSettings);
    return { url: url.replace(/\/+$/, ''), token };
  } catch {
    return { url: undefined, token: undefined };
  }
}

/** Any answer will do: that it is ready is for its probe to say. */
async function checkIngest(url: string, look: Look): Promise<Finding> {
  const about = 'ingest';
  const answer = await look(url);
  if (typeof answer !== 'string') return { level: 'ok', about, says: `${url} answers` };
  const hint = 'Start it with npm start or npm run ingest, or say with --ingest where it is.';
  return { level: 'fail', about, says: `${url} cannot be reached: ${answer}.`, hint };
}

async function checkStandardProbes(look: Look): Promise<Finding[]> {
  const found = await Promise.all(
    Object.entries(standardProbes).map(async ([service, url]) => ({
      service,
      finding: await checkProbe(service, url, look),
    })),
  );
  const absent = found.filter(({ finding }) => finding.hint === startIt).map(({ service }) => service);
  const findings = found.map(({ finding }) => finding).filter(({ hint }) => hint !== startIt);
  if (absent.length === 0) return findings;
  const says = `${absent.join(', ')}: no probe at the standard port on localhost.`;
  const hint = 'Where they run elsewhere, say so with --probe URL.';
  return [...findings, { level: 'warn', about: 'probes', says, hint }];
}

const startIt = 'Start the service, or correct the URL.';

async function checkProbe(name: string, url: string, look: Look): Promise<Finding> {
  const about = 'probes';
  const answer = await look(`${url.replace(/\/+$/, '')}/readyz`);
  if (typeof answer === 'string') {
    return { level: 'fail', about, says: `${name}: ${url} cannot be reached: ${answer}.`, hint: startIt };
  }
  if (answer.status === 200) return { level: 'ok', about, says: `${name} is ready` };
  const says = `${name} is not ready: ${whyNotReady(answer)}`;
  return { level: 'fail', about, says, hint: 'Its log says more.' };
}

function whyNotReady({ status, body }: Answer): string {
  try {
    const { checks } = JSON.parse(body) as { checks: { name: string; ready: boolean; reason?: string }[] };
    const failing = checks.filter(({ ready }) => !ready);
    if (failing.length > 0) return failing.map(({ name, reason = '' }) => `${name}: ${reason}`).join('; ');
  } catch {
    // Not the answer of a probe.
  }
  return `status ${status}.`;
}

async function ask(url: string): Promise<Answer | string> {
  const askedAt = Date.now();
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(answerWithinMs) });
    const answeredAt = Date.now();
    const date = Date.parse(response.headers.get('date') ?? '');
    // It is cut to whole seconds; half of one is its middle.
    const aheadMs = date + 500 - (askedAt + answeredAt) / 2;
    return {
      status: response.status,
      body: await response.text(),
      aheadMs: Number.isNaN(aheadMs) ? undefined : Math.round(aheadMs),
    };
  } catch (error) {
    if (error instanceof DOMException) return `no answer within ${answerWithinMs / 1_000} s`;
    const { cause = error } = error as Error;
    const { code, message } = cause as NodeJS.ErrnoException;
    return code === 'ECONNREFUSED' ? 'nothing listens there' : (code ?? message);
  }
}

function clockFindings(clocks: ReadonlyMap<string, number>): Finding[] {
  const about = 'clock';
  if (clocks.size === 0) return [];
  const wrong = [...clocks].filter(([, aheadMs]) => Math.abs(aheadMs) > skewToWarnOfMs);
  if (wrong.length === 0) return [{ level: 'ok', about, says: 'the services agree with this machine' }];
  return wrong.map(([host, aheadMs]) => ({
    level: 'warn',
    about,
    says:
      `${host} is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine: ` +
      'times in events and the age of retries are off by as much.',
    hint: 'Let both take their time from NTP.',
  }));
}
