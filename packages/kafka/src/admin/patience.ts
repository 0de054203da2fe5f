/**
 * Waits for what a new, restarting or busy cluster takes a while for: leaders of new partitions, a controller, an answer.
 * Errors that end by themselves are retried until one deadline. All other errors are thrown immediately.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError } from '@tailrace/errors';
import { errorChain } from '../failure.ts';

/** Shared by the calls of one command, which have one deadline. */
export interface Patience {
  readonly limitMs: number;
  /** By `performance.now()`. */
  readonly deadline: number;
  /** Called every second with what is waited for, such as `a leader of 12 partitions of tailrace.events`. */
  readonly onWait: (what: string) => void;
  /** Whether Kafka has answered. From then on a broker that cannot be reached is waited for, because others may take its place. */
  hasAnswered: boolean;
}

/** Names what is waited for from now on, after an answer of Kafka. */
export type WaitFor = (what: string) => void;

const defaultLimitMs = 120_000;
const reportEveryMs = 1_000;
const [firstPauseMs, longestPauseMs] = [50, 1_000];

export function startPatience(
  onWait: Patience['onWait'] = () => undefined,
  limitMs = defaultLimitMs,
): Patience {
  return { limitMs, deadline: performance.now() + limitMs, onWait, hasAnswered: false };
}

/** The same from now on. */
export function renewPatience({ onWait, limitMs, hasAnswered }: Patience): Patience {
  return { ...startPatience(onWait, limitMs), hasAnswered };
}

/**
 * Calls `attempt` until it succeeds. `first` is what is waited for until it says something else.
 *
 * @throws TailraceError `kafka-unavailable` at the deadline, also where Kafka does not answer
 */
export async function patiently<T>(
  patience: Patience,
  first: string,
  attempt: (waitFor: WaitFor) => Promise<T>,
): Promise<T> {
  let what = first;
  let last: unknown;
  let over = false;
  const isOver = (): boolean => over;
  const repeat = async (): Promise<T> => {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        const result = await attempt((next) => {
          patience.hasAnswered = true;
          what = next;
        });
        patience.hasAnswered = true;
        return result;
      } catch (error) {
        const isWaitedFor = isTransient(error) || (patience.hasAnswered && isUnreachable(error));
        if (isOver() || !isWaitedFor) throw error;
        last = error;
      }
      await wait(pauseMs);
      // The caller was told that it failed, so nothing more is changed.
      if (isOver()) throw stillWaiting(what, patience, last);
    }
  };
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(stillWaiting(what, patience, last)),
    Math.max(0, patience.deadline - performance.now()),
  );
  const reports = setInterval(() => patience.onWait(what), reportEveryMs);
  const result = repeat();
  result.catch(() => undefined);
  try {
    return await Promise.race([result, late.promise]);
  } finally {
    over = true;
    clearTimeout(timer);
    clearInterval(reports);
  }
}

function stillWaiting(what: string, { limitMs }: Patience, last: unknown): TailraceError {
  const root = errorChain(last).at(-1);
  const answer = root === undefined ? '' : ` The last error was: ${root.message.replace(/\.$/, '')}.`;
  const message =
    `Still waiting for ${what} after ${limitMs / 1_000} s.${answer} The brokers may be starting or overloaded; ` +
    'their logs say more. The command can be run again, and continues from here.';
  return new TailraceError('kafka-unavailable', message, { cause: root });
}

/** Thrown by an attempt whose condition is not met yet. */
export class NotYet extends Error {
  override readonly name = 'NotYet';
}

/** By their names in the library. */
const transientTypes = new Set([
  'BROKER_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
  'KAFKA_STORAGE_ERROR',
  'LEADER_NOT_AVAILABLE',
  'NETWORK_EXCEPTION',
  'NOT_CONTROLLER',
  'NOT_COORDINATOR_FOR_GROUP',
  'NOT_LEADER_FOR_PARTITION',
  'REPLICA_NOT_AVAILABLE',
  'REQUEST_TIMED_OUT',
  'UNKNOWN_LEADER_EPOCH',
  'UNKNOWN_TOPIC_OR_PARTITION',
]);

/** `KafkaJSLockTimeout`: requests of this client have waited for each other longer than a request may take. */
const transientNames = new Set([
  'NotYet',
  'KafkaJSBrokerNotFound',
  'KafkaJSLockTimeout',
  'KafkaJSMetadataNotLoaded',
  'KafkaJSPartitionsUnknown',
  'KafkaJSRequestTimeoutError',
  'KafkaJSTopicMetadataNotLoaded',
]);

/** A request about several topics has an error for each. Topics that exist by now are not a failure. */
function isTransient(error: unknown): boolean {
  const chain = errorChain(error);
  const several = chain.find(({ errors }) => errors !== undefined)?.errors;
  if (several) return several.every((one) => isOfType(one, 'TOPIC_ALREADY_EXISTS') || isTransient(one));
  return chain.some(({ name, type = '' }) => transientNames.has(name) || transientTypes.has(type));
}

function isUnreachable(error: unknown): boolean {
  return errorChain(error).some(({ name }) => /^KafkaJSConnection(Closed)?Error$/.test(name));
}

function isOfType(error: unknown, wanted: string): boolean {
  return errorChain(error).some(({ type }) => type === wanted);
}
