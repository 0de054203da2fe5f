/** Runs the faults of a schedule under load, waits until all deliveries are finished, and judges what happened. */
import type { LogLine } from '../support/processes/process.ts';
import { pace } from '../support/steadily.ts';
import type { Episode, Facts } from './facts.ts';
import { begin } from './faults.ts';
import { explain, gather } from './gather.ts';
import { startLoad } from './load.ts';
import { judgeCampaign, type Verdict } from './oracle.ts';
import { heldBy, partiesOf, type Fault, type Plan } from './schedule.ts';
import { openStage, type Stage } from './stage.ts';

export interface Outcome {
  readonly facts: Facts;
  readonly verdict: Verdict;
  /** Faults that are not possible on this machine. */
  readonly notRun: readonly Fault[];
  /** The log of each process that a service ever had, by its name. */
  readonly logs: ReadonlyMap<string, readonly LogLine[]>;
}

export async function runCampaign(plan: Plan, say: (line: string) => void): Promise<Outcome> {
  const { ratePerSecond, lengthMs } = plan;
  await using stage = await openStage(plan);
  using load = startLoad(stage, ratePerSecond);
  const [{ episodes, notRun, crashes }] = await Promise.all([disturb(stage, plan, say), pace(lengthMs)]);
  await load.finish();
  stage.recover();
  say(`all calls are accepted; waiting for ${stage.ledger.open} deliveries`);
  // While there is progress, it is waited for.
  for (let before = Infinity; stage.ledger.open > 0 && stage.ledger.open < before;) {
    before = stage.ledger.open;
    await stage.ledger.drained();
  }
  say(`asking the API about events; ${stage.ledger.open} deliveries are open`);
  const explanations = await explain(stage, load.sends);
  for (const [name, { process }] of stage.replicas) {
    if (process.pid === undefined)
      crashes.push(`${name} ended by itself: ${JSON.stringify(process.log.items.slice(-3))}`);
  }
  for (const node of stage.cluster.nodes) {
    if (node.pid !== undefined) continue;
    crashes.push(`broker-${node.id} ended by itself: ${await node.lastLines()}`);
    await node.restart();
  }
  say('stopping the services');
  // Stopping the services also ends repeats that are still in flight.
  crashes.push(...(await stage.stopAll()));
  const facts = await gather(stage, load.sends, episodes, explanations, crashes);
  const logs = new Map(
    Object.values(stage.pods).flatMap(({ component, all }) =>
      all.map(({ process }, nth) => [`${component}-${nth + 1}`, process.log.items] as const),
    ),
  );
  return { facts, verdict: judgeCampaign(facts), notRun, logs };
}

/** In which the effect of a fault that is apart from the next one is seen. */
const apartMs = 10_000;

/** Each fault begins when it is due and when the faults before that held the same have settled. */
async function disturb(
  stage: Stage,
  { faults, apart = false }: Pick<Plan, 'faults' | 'apart'>,
  say: (line: string) => void,
) {
  const episodes: Episode[] = [];
  const notRun: Fault[] = [];
  const crashes: string[] = [];
  const settled = new Map<string, Promise<void>>();
  const startedAt = Date.now();

  const run = async (fault: Fault, before: Promise<unknown>): Promise<void> => {
    await pace(Math.max(0, startedAt + fault.atMs - Date.now()));
    await before;
    if (apart) await pace(apartMs);
    const beganAt = Date.now();
    const says = `${fault.id}: ${fault.kind}, ${fault.target}`;
    try {
      const end = await begin(stage, fault);
      if (!end) {
        notRun.push(fault);
        return;
      }
      say(`${says}: began`);
      await pace(fault.durationMs);
      await end();
      const endedAt = Date.now();
      await stage.settled(disturbedBy(stage, fault));
      episodes.push({ fault, beganAt, endedAt, settledAt: Date.now() });
      say(`${says}: over after ${Date.now() - beganAt} ms`);
    } catch (error) {
      crashes.push(`${says}: ${(error as Error).message}`);
      say(crashes.at(-1) ?? '');
    }
  };
  const running = faults.map((fault) => {
    const held = apart ? ['everything'] : heldBy(fault);
    const ended = run(fault, Promise.all(held.map(async (thing) => settled.get(thing))));
    for (const thing of held) settled.set(thing, ended);
    return ended;
  });
  await Promise.all(running);
  return { episodes, notRun, crashes };
}

/** The replicas that must be ready again. */
function disturbedBy({ replicas }: Stage, { target }: Fault): readonly string[] {
  return partiesOf(target).filter((party) => replicas.has(party));
}
