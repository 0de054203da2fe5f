/** Reports destinations whose deliveries all fail now, and those that are paused, as the history of control knows them. */
import type { Schema } from '@tailrace/api';
import type { Destination } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import { inParallel } from '../in-parallel.ts';
import type { Api } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { countOf } from '../terminal/table.ts';
import { findingsAbout, type Finding } from './finding.ts';

const { ok, warn } = findingsAbout('destinations');
const mostChecked = 1_000;
const mostNamed = 10;
const atTheSameTime = 8;
const lookBackMs = 15 * 60_000;

/** @throws TailraceError the error of a response, except that the history is unavailable */
export async function checkDestinations(api: Pick<Api, 'list' | 'get'>): Promise<Finding[]> {
  const { items, more } = await api.list<Destination>(pathOf('destinations'), {}, mostChecked);
  const sending = items.filter(({ enabled, paused }) => enabled && !paused);
  const paused = items.filter((one) => one.enabled && one.paused).map(({ id }) => id);
  try {
    const failing = (
      await inParallel(atTheSameTime, sending, (destination) => failureOf(api, destination))
    ).filter((failure) => failure !== undefined);
    const findings = failing
      .slice(0, mostNamed)
      .map(({ id, attempts, reason }) =>
        warn(
          `${id} fails: ${countOf(attempts, 'attempt')} in the last 15 minutes, none delivered (${reason}).`,
          `Find the cause: tailrace get failures ${id}, tailrace test ${id}.`,
        ),
      );
    if (failing.length > mostNamed) {
      findings.push(warn(`${failing.length - mostNamed} more destinations fail.`));
    }
    if (paused.length > 0) {
      const named = paused.slice(0, mostNamed).join(', ');
      const others = paused.length > mostNamed ? ` and ${paused.length - mostNamed} more` : '';
      findings.push(ok(`paused, their deliveries wait: ${named}${others}`));
    }
    const checked = `${countOf(sending.length, 'destination')}${more ? ` of the first ${mostChecked}` : ''}`;
    if (failing.length === 0) findings.push(ok(`${checked}, none fails`));
    return findings;
  } catch (error) {
    if (!isTailraceError(error, 'history-unavailable')) throw error;
    const says = 'it is not known which destinations fail: the history is not available.';
    return [warn(says, 'See the log of control.')];
  }
}

/** Undefined where an attempt was delivered, or none was made. */
async function failureOf(api: Pick<Api, 'get'>, { id }: Destination) {
  const { total } = await api.get<Schema['GetDestinationStatsAnswer']>(pathOf('destinations', id, 'stats'), {
    since: ago(),
  });
  if (total.attempts === 0 || total.delivered > 0) return undefined;
  const { items } = await api.get<Schema['GetDestinationFailuresAnswer']>(
    pathOf('destinations', id, 'failures'),
    { since: ago() },
  );
  const [most] = [...items].sort((a, b) => b.count - a.count);
  return { id, attempts: total.attempts, reason: most?.reason ?? 'unknown reason' };
}

function ago(): string {
  return new Date(Date.now() - lookBackMs).toISOString();
}
