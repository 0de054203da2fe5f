/**
 * A request sees what any instance wrote before it: behind a balancer, the next request of a client is answered by another
 * instance than its change. An instance follows its topics, and is behind for the moment until Kafka has sent it a record. So a request
 * first looks up the ends of the topics whose content it shows, and waits until they are read.
 */
import { singleFlight, type ConfigView } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';

/** Reads everything that its topic contains at the call. */
interface Followed {
  refresh(): Promise<void>;
}

export interface FollowedTopics {
  readonly config: Pick<ConfigView, 'healthy' | 'refresh'>;
  readonly sessions: Followed;
  /** The routes that show the content of other topics. */
  readonly byRoute: readonly (readonly [routes: RegExp, topic: Followed])[];
}

/**
 * Without an answer of Kafka in this time, a request is answered from what was read before. Brokers and instances that are busy answer
 * within seconds; of those that hang it is known ten seconds later, and then nothing is waited for.
 */
const waitMs = 5_000;

/**
 * Returns a function that resolves when the request to `route`, with a session or without, may be answered. Requests at the same time
 * share reads. While Kafka is known to be unavailable, nothing is waited for.
 */
export function createUpToDate({
  config,
  sessions,
  byRoute,
}: FollowedTopics): (route: string, hasSession?: boolean) => Promise<void> {
  const refreshSessions = singleFlight(() => sessions.refresh());
  const followed = [
    [/^\/v1\//, () => config.refresh()] as const,
    ...byRoute.map(([routes, topic]) => [routes, singleFlight(() => topic.refresh())] as const),
  ];
  return async (route, hasSession = false) => {
    if (!config.healthy) return;
    const ofRoute = followed.flatMap(([routes, refresh]) => (routes.test(route) ? [refresh()] : []));
    const reads = hasSession ? [...ofRoute, refreshSessions()] : ofRoute;
    await within(Promise.all(reads).catch(ignoreUnavailable), waitMs);
  };
}

function ignoreUnavailable(error: unknown): void {
  if (!isTailraceError(error)) throw error;
}

/** Whether the work ends in this time. */
export async function within(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, limitMs, false);
  try {
    return await Promise.race([work.then(() => true), promise]);
  } finally {
    clearTimeout(timer);
  }
}
