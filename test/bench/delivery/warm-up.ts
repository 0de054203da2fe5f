/** Runs before measuring, so that the broker's JVM has compiled its code. */
import { say } from '../processes/bench.ts';
import { openStage, type Context } from './stage.ts';
import { inTurn } from './wave.ts';

const arrivesWithinMs = 120_000;

export async function warmUp(context: Context): Promise<void> {
  const { options, receiver } = context;
  say(`warming up: ${options.warmUp} deliveries`);
  const urls = await receiver.listen([{ kind: 'answers' }]);
  await using stage = await openStage(context, { name: 'warm-up', urls });
  await stage.startService();
  const wave = await stage.wave(inTurn(options.warmUp, [0]));
  await stage.feedUnpaced(wave);
  await receiver.complete(arrivesWithinMs);
}
