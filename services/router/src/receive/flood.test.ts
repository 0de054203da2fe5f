/** One source floods a partition, and twenty others have calls behind its flood. On simulated time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Configuration } from '@tailrace/config';
import { headerOf } from '@tailrace/kafka/testing';
import { simulateTime, type SimulatedTime } from '@tailrace/testing';
import { groupId, names, openStage, toDestination, type Stage } from '../testing/stage.ts';

const victims = Array.from({ length: 20 }, (_, nth) => `victim-${nth}`);
const callsOfVictim = 3;
const floodCalls = 3_000;
const allCalls = floodCalls + victims.length * callsOfVictim;
/** Those that are published before the first turn, about 1 MB, and a few for each turn. */
const mostInFront = 800;

const configuration: Configuration = ['flood', ...victims]
  .map((source) => toDestination(source, `to-${source}`))
  .reduce((all, { sources, destinations }) => ({
    sources: [...all.sources, ...sources],
    destinations: [...all.destinations, ...destinations],
  }));

/** Writes calls of a source, and of a hundred users in turn. A router processes nothing meanwhile. */
function write({ cluster }: Stage, source: string, calls: number): void {
  for (let nth = 0; nth < calls; nth += 1) {
    const user = `u-${nth % 100}`;
    const properties = { note: 'x'.repeat(1_000) };
    const call = { type: 'page', userId: user, messageId: `${source}-${nth}`, properties };
    const record = { key: user, value: JSON.stringify(call), headers: { 'source-id': source } };
    cluster.partition(names.events, 0)?.append(record);
  }
}

/** The ids of the events in `deliveries`, in their order. */
function delivered({ cluster }: Stage): string[] {
  return cluster.records(names.deliveries).map((record) => headerOf(record, 'event-id') ?? '');
}

/** How many records `deliveries` has. */
function written({ cluster }: Stage): number | undefined {
  return cluster.partition(names.deliveries, 0)?.high;
}

function isVictims(id: string): boolean {
  return id.startsWith('victim');
}

/** Runs `use` when the router has received the flood and the calls behind it, and Kafka has acknowledged no delivery. */
async function withFlood(use: (stage: Stage, time: SimulatedTime) => Promise<void>): Promise<void> {
  using time = simulateTime();
  const stage = await time.settled(openStage({ configuration }));
  const { cluster } = stage;
  try {
    cluster.pauseAcknowledgements();
    write(stage, 'flood', floodCalls);
    for (const victim of victims) write(stage, victim, callsOfVictim);
    cluster.notify();
    await time.pass(500);
    await use(stage, time);
  } finally {
    cluster.resumeAcknowledgements();
    await time.settled(Promise.resolve(stage[Symbol.asyncDispose]()));
  }
}

/** Lets Kafka acknowledge the request that is in flight, and not the next one. */
async function acknowledgeOne({ cluster }: Stage, time: SimulatedTime): Promise<void> {
  cluster.resumeAcknowledgements();
  cluster.pauseAcknowledgements();
  await time.pass(500);
}

test('17.7 calls behind the flood of another source wait for what is being published, and not for the flood', async () => {
  await withFlood(async (stage, time) => {
    stage.cluster.resumeAcknowledgements();
    await time.until(() => written(stage) === allCalls);
    const ids = delivered(stage);
    const last = ids.findLastIndex(isVictims);
    const inFront = ids.slice(0, last).filter((id) => !isVictims(id)).length;
    assert.ok(inFront <= mostInFront, `${inFront} of ${floodCalls} calls of the flood are in front`);
    for (const source of ['flood', ...victims]) {
      const numbers = ids
        .filter((id) => id.startsWith(`${source}-`))
        .map((id) => Number(id.split('-').at(-1)));
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => a - b),
        `the order of ${source}`,
      );
    }
  });
});

test('a crash amid the flood loses nothing, and what was finished out of turn is not repeated', async () => {
  await withFlood(async (stage, time) => {
    const { cluster } = stage;
    const isFinished = (): boolean =>
      delivered(stage).filter(isVictims).length === victims.length * callsOfVictim;
    while (!isFinished()) await acknowledgeOne(stage, time);
    await acknowledgeOne(stage, time);
    const { offset = 0, metadata = '' } = cluster.group(groupId).offsets.get(`${names.events}/0`) ?? {};
    assert.ok(offset < floodCalls && metadata !== '', `committed up to ${offset}, '${metadata}'`);
    // Another router begins with what is committed, as after a crash.
    cluster.removeMembers(groupId);
    const starting = stage.start();
    cluster.resumeAcknowledgements();
    await time.settled(starting);
    await time.pass(60_000);
    assert.equal(new Set(delivered(stage)).size, allCalls);
    assert.equal(delivered(stage).filter(isVictims).length, victims.length * callsOfVictim);

    const before = delivered(stage).length;
    write(stage, 'flood', floodCalls);
    for (const victim of victims) write(stage, victim, callsOfVictim);
    write(stage, 'flood', floodCalls + 1);
    cluster.notify();
    await time.pass(1_000);
    assert.deepEqual(delivered(stage).slice(before), [`flood-${floodCalls}`]);
  });
});
