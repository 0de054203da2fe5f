import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Consumer } from 'kafkajs';
import { collect, eventually } from '@tailrace/testing';
import { original, patched } from '../testing/original.ts';
import { silent } from '../testing/silent.ts';
import type { MemberConsumer } from './membership.ts';

type GroupClass = new (options: object) => {
  joinAndSync(): Promise<void>;
  leave(): Promise<void>;
};

/**
 * A consumer whose requests the broker refuses with these errors in turn, then no more. `asked` are the ids with which it joins; the broker
 * gives it another id each time that it has none.
 */
function start(
  load: typeof original,
  refused: { readonly join: (string | undefined)[]; readonly heartbeat: string[] },
  /** Each but the first join waits for it. */
  others: Promise<unknown> = Promise.resolve(),
) {
  const { KafkaJSProtocolError } = load('errors') as {
    KafkaJSProtocolError: new (error: object) => Error;
  };
  const refusal = (type: string) =>
    Promise.reject(new KafkaJSProtocolError({ message: type, type, retriable: true }));
  const asked: string[] = [];
  let given = 0;
  const coordinator = {
    joinGroup: async ({ memberId }: { memberId: string }) => {
      asked.push(memberId);
      if (asked.length > 1) await others;
      const type = refused.join.shift();
      if (type !== undefined) return refusal(type);
      const id = memberId === '' ? `member-${(given += 1)}` : memberId;
      return { generationId: 1, leaderId: 'another', memberId: id, members: [] };
    },
    syncGroup: () => Promise.resolve({ memberAssignment: Buffer.alloc(0) }),
    heartbeat: () => {
      const type = refused.heartbeat.shift();
      return type === undefined ? Promise.resolve() : refusal(type);
    },
    leaveGroup: () => Promise.resolve(),
  };
  const cluster = {
    brokerPool: { metadata: {} },
    connect: () => Promise.resolve(),
    disconnect: () => Promise.resolve(),
    refreshMetadataIfNecessary: () => Promise.resolve(),
    getNodeIds: () => ['1'],
    findGroupCoordinator: () => Promise.resolve(coordinator),
    committedOffsets: () => ({}),
  };
  const retry = { initialRetryTime: 1, maxRetryTime: 1, retries: 5 };
  return { asked, options: { cluster, groupId: 'g', topics: [], assigners: [], logger: silent, retry } };
}

/** The ids with which it joins when it runs again and again, and leaves once. */
async function idsOfRuns(load: typeof original): Promise<readonly string[]> {
  const { asked, options } = start(load, { join: [], heartbeat: [] });
  const Group = load('consumer/consumerGroup') as GroupClass;
  const run = async () => {
    const group = new Group({ ...options, instrumentationEmitter: { emit: () => undefined } });
    await group.joinAndSync();
    return group;
  };
  await run();
  const second = await run();
  await second.leave();
  await run();
  return asked;
}

test('a consumer that could not leave joins as the same member when it runs again', async () => {
  assert.deepEqual(await idsOfRuns(patched), ['', 'member-1', '']);
});

test('the original joins as a new member', async () => {
  assert.deepEqual(await idsOfRuns(original), ['', '', '']);
});

test('consumers do not join as the members that others are', async () => {
  await idsOfRuns(patched);
  assert.deepEqual(await idsOfRuns(patched), ['', 'member-1', '']);
});

const consumerOptions = {
  partitionAssigners: [],
  heartbeatInterval: 0,
  sessionTimeout: 1,
  maxWaitTimeInMs: 1,
};

/** Starts a consumer that is told to join again, and returns how often it has fetched by then. */
async function untilRejoining(load: typeof original, others: Promise<unknown>) {
  const { asked, options } = start(load, { join: [], heartbeat: ['REBALANCE_IN_PROGRESS'] }, others);
  const create = load('consumer/index') as (options: object) => Consumer;
  const consumer = create({ ...options, ...consumerOptions });
  const fetches = collect<unknown>('fetches', () => 'fetch');
  const rejoining = Promise.withResolvers<undefined>();
  consumer.on(consumer.events.FETCH, fetches.add);
  consumer.on(consumer.events.REBALANCING, () => {
    rejoining.resolve(undefined);
  });
  await consumer.run({ eachBatch: () => Promise.resolve() });
  await rejoining.promise;
  return { consumer, asked, fetches };
}

test('a member fetches while it waits for the others to join', async () => {
  const others = Promise.withResolvers<undefined>();
  const { consumer, asked, fetches } = await untilRejoining(patched, others.promise);
  await fetches.waitFor(fetches.items.length + 20);
  assert.deepEqual(asked, ['', 'member-1']);
  others.resolve(undefined);
  await fetches.waitFor(fetches.items.length + 20);
  await consumer.disconnect();
  assert.deepEqual(asked, ['', 'member-1']);
});

test('the original fetches nothing until all have joined', async () => {
  const others = Promise.withResolvers<undefined>();
  const { consumer, asked, fetches } = await untilRejoining(original, others.promise);
  const before = fetches.items.length;
  await eventually(() => asked.length === 2);
  assert.equal(fetches.items.length, before);
  others.resolve(undefined);
  await fetches.waitFor(before + 1);
  await consumer.disconnect();
});

test('a member leaves when the join that is under way has ended', async () => {
  const others = Promise.withResolvers<undefined>();
  const { consumer, asked } = await untilRejoining(patched, others.promise);
  const leaving = consumer.disconnect();
  others.resolve(undefined);
  await leaving;
  assert.deepEqual(asked, ['', 'member-1']);
});

test('a member joins again of its own accord', async () => {
  const { asked, options } = start(patched, { join: [], heartbeat: [] });
  const create = patched('consumer/index') as (options: object) => MemberConsumer;
  const consumer = create({ ...options, ...consumerOptions });
  assert.equal(consumer.isMember, false);
  await consumer.run({ eachBatch: () => Promise.resolve() });
  assert.equal(consumer.isMember, true);
  consumer.joinAgain();
  await eventually(() => asked.length === 2);
  await consumer.disconnect();
  assert.deepEqual(asked, ['', 'member-1']);
  assert.equal(consumer.isMember, false);
});

/** The ids with which a consumer joins that the broker forgets, and refuses once, while it loads the group. */
async function idsAfterRefusal(load: typeof original): Promise<readonly string[]> {
  const { asked, options } = start(load, {
    join: [undefined, 'COORDINATOR_LOAD_IN_PROGRESS'],
    heartbeat: ['UNKNOWN_MEMBER_ID'],
  });
  const create = load('consumer/index') as (options: object) => Consumer;
  const consumer = create({ ...options, ...consumerOptions });
  const enough = Promise.withResolvers<undefined>();
  let fetches = 0;
  consumer.on(consumer.events.FETCH, () => {
    fetches += 1;
    if (fetches === 20) enough.resolve(undefined);
  });
  await consumer.run({ eachBatch: () => Promise.resolve() });
  await enough.promise;
  await consumer.disconnect();
  return asked;
}

test('a consumer that is refused when it joins again joins later', async () => {
  assert.deepEqual(await idsAfterRefusal(patched), ['', '', '']);
});

test('the original goes on without being in its group', async () => {
  assert.deepEqual(await idsAfterRefusal(original), ['', '']);
});

interface Group {
  memberId: string | null;
  joinAndSync(): Promise<unknown>;
  fetch(nodeId: string): Promise<unknown>;
}

interface Runner {
  running: boolean;
  fetch(nodeId: string): Promise<unknown>;
}

/** A consumer that runs, whose group cannot be joined because brokers are away, and its fetches. */
function open(load: typeof original) {
  const fetched: string[] = [];
  const cluster = { findGroupCoordinator: () => Promise.reject(new Error('no broker')) };
  const instrumentationEmitter = { emit: () => undefined };
  const options = { cluster, groupId: 'g', logger: silent, retry: {}, instrumentationEmitter };
  const group = new (load('consumer/consumerGroup') as new (options: object) => Group)(options);
  group.fetch = (nodeId) => Promise.resolve(fetched.push(nodeId));
  const runner = new (load('consumer/runner') as new (options: object) => Runner)({
    ...options,
    consumerGroup: group,
  });
  runner.running = true;
  return { runner, group, fetched };
}

test('what could not join its group fetches nothing, and is told to join', async () => {
  for (const [memberId, type] of [
    [null, 'UNKNOWN_MEMBER_ID'],
    ['m', 'REBALANCE_IN_PROGRESS'],
  ] as const) {
    const before = open(original);
    before.group.memberId = memberId;
    await assert.rejects(before.group.joinAndSync(), { message: 'no broker' });
    await before.runner.fetch('1');
    assert.deepEqual(before.fetched, ['1'], 'the original fetches');

    const { runner, group, fetched } = open(patched);
    group.memberId = memberId;
    await assert.rejects(group.joinAndSync(), { message: 'no broker' });
    await assert.rejects(runner.fetch('1'), { type });
    assert.deepEqual(fetched, []);
  }
});
