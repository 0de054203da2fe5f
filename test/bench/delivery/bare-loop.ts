/** Starts the bare loop, the counterpart of the delivery service that consists of its libraries alone. */
import { startChild, type Child } from '../processes/children.ts';
import type { Context, Stage } from './stage.ts';

export interface BareLoopSettings {
  readonly brokers: readonly string[];
  readonly topic: string;
  /** Topic for a record of each attempt; without it, none is written. */
  readonly attemptsTopic?: string | undefined;
  readonly sharedSecret: string;
  /** URL of each destination. */
  readonly urls: Readonly<Record<string, string>>;
  readonly inFlight: number;
}

export interface FromBareLoop {
  readonly kind: 'joined';
}

export type BareLoop = Child<never, FromBareLoop>;

/** The service has the same number of requests in flight for one destination. */
const inFlight = 64;
const startsWithinMs = 60_000;

/** Starts the loop at the beginning of `topic`; resolves when it has joined its group. */
export async function startBareLoop(
  { bench, sharedSecret }: Context,
  { destinationIds }: Pick<Stage, 'destinationIds'>,
  {
    topic,
    attemptsTopic,
    urls,
  }: Pick<BareLoopSettings, 'topic' | 'attemptsTopic'> & { urls: readonly string[] },
): Promise<BareLoop> {
  const settings: BareLoopSettings = {
    brokers: bench.brokers,
    topic,
    attemptsTopic,
    sharedSecret,
    inFlight,
    urls: Object.fromEntries(destinationIds.map((id, place) => [id, urls[place] ?? ''])),
  };
  const child = startChild<never, FromBareLoop>('delivery/bare-loop-process.ts', [JSON.stringify(settings)]);
  await child.receive('joined', startsWithinMs);
  return child;
}
