/** The bare counterpart of the delivery service: the handle on a loop of nothing but its libraries. */
import { startChild, type Child } from '../processes/children.ts';
import type { Context, Stage } from './stage.ts';

export interface BareLoopSettings {
  readonly brokers: readonly string[];
  readonly topic: string;
  /** Where a record of each attempt goes; none is written without it. */
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

/** As many as the service has in flight for one destination. */
const inFlight = 64;
const startsWithinMs = 60_000;

/** Starts it on `topic`, from its beginning, and resolves when it is in its group. */
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
    ...{ brokers: bench.brokers, topic, attemptsTopic, sharedSecret, inFlight },
    urls: Object.fromEntries(destinationIds.map((id, place) => [id, urls[place] ?? ''])),
  };
  const child = startChild<never, FromBareLoop>('delivery/bare-loop-process.ts', [JSON.stringify(settings)]);
  await child.receive('joined', startsWithinMs);
  return child;
}
