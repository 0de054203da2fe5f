/** How each fault begins and ends. */
import { clockOf } from './clocks.ts';
import { passesFilter, type Asked, type Change } from './facts.ts';
import { partiesOf, waysOf, type Fault, type Service } from './schedule.ts';
import { untilStarted, type Stage } from './stage.ts';
import { thisRelease } from '../support/upgrade/former-release.ts';
import type { Weather } from '../support/network/network.ts';
import { steadily } from '../support/steadily.ts';

/** Ends the fault. */
type End = () => Promise<void> | void;

const none: End = () => undefined;

/** How much longer each fsync of a slow disk takes. */
const slowDiskMs = [100, 300, 1_000];

/** Resolves when the fault is in force, with the function that ends it. Undefined where it is not possible on this machine. */
export async function begin(stage: Stage, fault: Fault): Promise<End | undefined> {
  const { kind, target } = fault;
  switch (kind) {
    case 'service killed': {
      await stage.kill(target);
      return () => untilStarted(() => processOf(stage, target).restart());
    }
    case 'history lost': {
      await stage.kill(target);
      await stage.loseData(target);
      return () => untilStarted(() => processOf(stage, target).restart());
    }
    case 'service stopped': {
      const stopped = stage.stop(target);
      await stopped.catch(() => undefined);
      return async () => {
        await untilStarted(() => processOf(stage, target).restart());
        await stopped;
      };
    }
    case 'service frozen': {
      const { pid } = processOf(stage, target);
      if (pid === undefined) return none;
      process.kill(pid, 'SIGSTOP');
      return () => void process.kill(pid, 'SIGCONT');
    }
    case 'service slow':
      return slow(processOf(stage, target).pid);
    case 'broker slow':
      return slow(nodeOf(stage, target).pid);
    case 'disk slow': {
      const disk = stage.disks.get(target);
      await disk?.delay(slowDiskMs[fault.id % slowDiskMs.length] ?? 0);
      return disk && (() => disk.delay(0));
    }
    case 'disk full': {
      const node = nodeOf(stage, target);
      await node.fillDisk();
      return async () => {
        await node.emptyDisk();
        if (node.pid === undefined) await node.restart();
      };
    }
    case 'rolled back': {
      if (!stage.former) return undefined;
      for (const replica of partiesOf(target)) await stage.replace(replica, stage.former);
      return async () => {
        for (const replica of partiesOf(target)) await stage.replace(replica, thisRelease);
      };
    }
    case 'replica joined':
      return stage.join(target as Service);
    case 'clock jumped': {
      const clock = stage.clocks.get(target);
      await clock?.set(clockOf(fault).hours);
      return clock && (() => clock.set(0));
    }
    case 'clock drifted': {
      const clock = stage.clocks.get(target);
      const { pid } = processOf(stage, target);
      if (pid === undefined) return none;
      await clock?.drift(clockOf(fault).rate, pid);
      return clock && (() => clock.set(0));
    }
    case 'broker killed':
    case 'broker stopped':
    case 'disk lost': {
      const node = nodeOf(stage, target);
      await node.kill(kind === 'broker stopped' ? 'SIGTERM' : 'SIGKILL');
      if (kind === 'disk lost') await node.replaceDisk();
      return () => node.restart();
    }
    case 'broker frozen': {
      const node = nodeOf(stage, target);
      await node.freeze();
      return () => {
        node.thaw();
      };
    }
    case 'link cut':
    case 'link cut one way':
      return disturb(stage, target, 'cut');
    case 'link slow':
      return disturb(stage, target, 'slow');
    case 'link lossy':
      return disturb(stage, target, 'lossy');
    case 'partitions added':
      await stage.addPartitions(target);
      return none;
    case 'destination paused':
      return change(stage, target, 'paused', { set: { paused: true }, unset: { paused: false } });
    case 'destination disabled':
      return change(stage, target, 'disabled', { set: { enabled: false }, unset: { enabled: true } });
    case 'filter set': {
      const filter = { condition: { field: 'userId', oneOf: stage.cast.users.filter(passesFilter) } };
      return change(stage, target, 'filtered', { set: { filter }, unset: { filter: null } });
    }
    case 'rate limited':
      return change(stage, target, 'limited', { set: { rateLimit: 5 }, unset: { rateLimit: null } });
    case 'secret changed':
      await stage.changeSecret(target);
      return none;
    case 'user deleted': {
      const told = stage.destinations.filter(({ id }) => !stage.cast.changing.includes(id));
      for (const { id: destinationId } of told)
        stage.ledger.owe({ eventId: `deletion of ${target}`, destinationId, body: Buffer.alloc(0) });
      const body = { requestId: `deletion-${fault.id}`, userIds: [target] };
      const asked = await stage.ask({ method: 'POST', path: '/v1/deletions', body });
      stage.deletions.push({ userId: target, ...asked });
      return none;
    }
    case 'receiver down':
      stage.down.add(target);
      return () => void stage.down.delete(target);
  }
}

function processOf({ replicas }: Stage, name: string) {
  const pod = replicas.get(name);
  if (!pod) throw new RangeError(`there is no replica ${name}`);
  return pod.process;
}

function nodeOf({ cluster }: Stage, name: string) {
  return cluster.node(Number(name.replace('broker-', '')));
}

/** Four fifths of the time it is stopped, as on a machine that is far too busy. */
function slow(pid: number | undefined): End {
  if (pid === undefined) return none;
  let turn = 0;
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended by itself, which is found at the end.
    }
  };
  const stopping = steadily(100, () => {
    signal(turn++ % 5 === 0 ? 'SIGCONT' : 'SIGSTOP');
  });
  return () => {
    stopping[Symbol.dispose]();
    signal('SIGCONT');
  };
}

function disturb({ network }: Stage, target: string, weather: Weather): End {
  const set = (weather: Weather): void => {
    for (const [from, to] of waysOf(target)) network.set(from, to, weather);
  };
  set(weather);
  return () => {
    set('clear');
  };
}

async function change(
  { ask, changes }: Stage,
  destinationId: string,
  what: Change['what'],
  { set, unset }: { readonly set: object; readonly unset: object },
): Promise<End> {
  const patch = (body: object): Promise<Asked> =>
    ask({ method: 'PATCH', path: `/v1/destinations/${destinationId}`, body });
  const began = await patch(set);
  return async () => {
    changes.push({ destinationId, what, begin: began, end: await patch(unset) });
  };
}
