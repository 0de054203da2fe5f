/** Audience syncs on an in-memory Kafka cluster: each change is sent exactly once, also after interruptions. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { readCall } from '@tailrace/events';
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';
import type { MemoryCluster } from '@tailrace/kafka/testing';
import { eventually } from '@tailrace/testing';
import { encodeDeleted } from '@tailrace/suppressions';
import type { Asker } from '../access/places.ts';
import { openSuppressionStore } from '../suppressions/store.ts';
import { names, newCluster } from '../testing/api.ts';
import {
  openAudiences,
  type Audience,
  type Audiences,
  type AudiencesOptions,
  type UploadKind,
} from './index.ts';

interface Stage extends AsyncDisposable {
  readonly cluster: MemoryCluster;
  readonly enabled: Set<string>;
  /** Resolves when Kafka has acknowledged the record. */
  publish(record: OutgoingRecord): Promise<void>;
  /** Another instance than the others of the stage. */
  open(options?: Pick<AudiencesOptions, 'longestMs'>): Promise<Audiences & AsyncDisposable>;
}

async function createStage(): Promise<Stage> {
  const cluster = newCluster();
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-audiences-'));
  const enabled = new Set(['web', 'app', 'crm']);
  let instances = 0;
  return {
    cluster,
    enabled,
    async publish(record) {
      await using kafka = cluster.connect();
      await kafka.publisher().publish(record);
    },
    async open(options = {}) {
      const kafka = cluster.connect();
      const own = path.join(folder, String((instances += 1)));
      const users = await openSuppressionStore({ kafka, names, log, folder: path.join(own, 'users') });
      const audiences = await openAudiences({
        kafka,
        names,
        users,
        config: {
          source: (id) => ({ id, writeKeys: ['wk'], enabled: enabled.has(id) }),
          destination: (id) => ({
            id,
            type: 'Webhooks',
            enabled: enabled.has(id),
            sources: ['web'],
            settings: { webhooks: [] },
          }),
          refresh: () => Promise.resolve(),
        },
        folder: own,
        ratePerSecond: 10_000,
        log,
        ...options,
      });
      return Object.assign(audiences, {
        async [Symbol.asyncDispose]() {
          await audiences.close();
          await users.close();
          await kafka.close();
        },
      });
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

const log = { info: () => undefined, warn: () => undefined };

/** Of a sync that has many users: a call at a time, and the last one many minutes after the first. */
const slow = { ratePerSecond: 5 };

const users = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, nth) => `user ${from + nth}`);

interface Wish {
  readonly sourceId?: string;
  readonly name?: string;
  readonly ratePerSecond?: number;
  readonly kind?: UploadKind;
  readonly allowEmpty?: boolean;
  readonly asker?: Asker;
}

const limited: Asker = { tokenId: 'limited', fingerprint: '', sources: ['web'], destinations: undefined };

/** @param userIds in a change, those who leave have a minus */
function upload(audiences: Audiences, userIds: readonly string[], wish: Wish = {}): Promise<Audience> {
  const changeOf = (id: string) => (id.startsWith('-') ? { removed: [id.slice(1)] } : { added: [id] });
  const lines = userIds.map((id) => JSON.stringify(wish.kind === 'change' ? changeOf(id) : id));
  return audiences.sync({
    kind: 'replace',
    sourceId: 'web',
    name: 'Big Spenders',
    format: 'ndjson',
    stream: Readable.from(lines.map((line) => Buffer.from(`${line}\n`))),
    ...wish,
  });
}

const change = { kind: 'change' } as const;
const toCrm = { kind: 'send', sourceId: 'web', name: 'Big Spenders', destination: 'crm' } as const;

async function untilEnded(audiences: Audiences, name = 'Big Spenders', sourceId = 'web'): Promise<Audience> {
  const found = await eventually(
    () => audiences.get(sourceId, name),
    (audience) => audience?.sync.state !== 'running',
  );
  assert.ok(found);
  return found;
}

/** Uploads, and resolves with the audience when the sync is done. */
async function sync(audiences: Audiences, userIds: readonly string[], wish: Wish = {}): Promise<Audience> {
  const begun = await upload(audiences, userIds, wish);
  const ended = await untilEnded(audiences, wish.name, wish.sourceId);
  assert.deepEqual([ended.sync.state, ended.sync.id], ['done', begun.sync.id], JSON.stringify(ended.sync));
  return ended;
}

interface SentCall {
  readonly userId: string;
  readonly traits: Readonly<Record<string, boolean>>;
}

function sentCallOf(record: ConsumedRecord): SentCall {
  const { userId, traits } = JSON.parse(record.value?.toString() ?? '') as SentCall;
  return { userId, traits };
}

/** `+user` or `-user` for each readable identify call of the audience, sorted. */
function sentChanges({ cluster }: Stage, trait = 'big_spenders'): string[] {
  return cluster
    .records(names.events)
    .map(sentCallOf)
    .filter(({ traits }) => trait in traits)
    .map(({ userId, traits }) => `${traits[trait] ? '+' : '-'}${userId}`)
    .sort();
}

const joined = (ids: readonly string[]): string[] => ids.map((id) => `+${id}`);
const left = (ids: readonly string[]): string[] => ids.map((id) => `-${id}`);

/** Resolves once `count` calls are readable. */
async function sentReaches({ cluster }: Stage, count: number): Promise<void> {
  await eventually(() => cluster.records(names.events).length >= count);
}

describe('audiences', { concurrency: true }, () => {
  test('13.1 13.2 a new audience sends an identify call for each member, in the form that ingest writes', async () => {
    await using stage = await createStage();
    await using audiences = await stage.open();
    await using kafka = stage.cluster.connect();
    const { members, sync: ended } = await sync(audiences, [
      'ada',
      'bob',
      'ada',
      'a "quoted" one',
      'nul\0and é',
    ]);
    assert.deepEqual(
      [members, ended.read, ended.members, ended.added, ended.removed, ended.sent, ended.total],
      [4, 5, 4, 4, 0, 4, 4],
    );
    assert.deepEqual(sentChanges(stage), joined(['a "quoted" one', 'ada', 'bob', 'nul\0and é']));
    for (const record of stage.cluster.records(names.events)) {
      const text = record.value?.toString() ?? '';
      assert.match(text, /^\{"type":"identify","messageId":"audience\/[^"\\]{1,91}","timestamp":/);
      const options = { enriched: true, receivedAt: 0, fallbackMessageId: () => '' };
      const reading = readCall(JSON.parse(text), options);
      assert.ok(reading.ok);
      assert.equal(JSON.stringify(reading.event), text);
      assert.deepEqual(reading.event.traits, { big_spenders: true });
      assert.equal(record.key?.toString(), reading.event.userId);
      assert.equal(String(record.headers['source-id']), 'web');
      const { partitionOf } = await kafka.partitioner(names.events);
      assert.equal(record.partition, partitionOf(record.key?.toString() ?? ''));
    }
  });

  test('13.1 13.2 a later sync sends only the users who joined or left', async () => {
    await using stage = await createStage();
    await using audiences = await stage.open();
    const first = users(0, 3_000);
    await sync(audiences, first);
    const { members, sync: ended } = await sync(audiences, users(10, 3_005));
    assert.deepEqual([members, ended.added, ended.removed, ended.sent], [2_995, 5, 10, 15]);
    const expected = [...joined(users(0, 3_005)), ...left(users(0, 10))].sort();
    assert.deepEqual(sentChanges(stage), expected);
    assert.equal((await sync(audiences, users(10, 3_005))).sync.total, 0);
    assert.deepEqual(sentChanges(stage), expected);
  });

  test('audiences and sources are independent', async () => {
    await using stage = await createStage();
    await using audiences = await stage.open();
    await sync(audiences, ['ada', 'bob']);
    await sync(audiences, ['bob'], { name: 'Big' });
    await sync(audiences, ['cleo'], { sourceId: 'app' });
    await sync(audiences, ['ada'], { name: 'Big' });
    assert.deepEqual(sentChanges(stage, 'big'), ['+ada', '+bob', '-bob']);
    assert.deepEqual(sentChanges(stage), joined(['ada', 'bob', 'cleo']));
    assert.deepEqual(
      audiences.list('web').map(({ name, trait, members }) => [name, trait, members]),
      [
        ['Big', 'big', 1],
        ['Big Spenders', 'big_spenders', 2],
      ],
    );
  });

  test('deleting an audience sends that every member left, and frees its name', async () => {
    await using stage = await createStage();
    await using audiences = await stage.open();
    await sync(audiences, users(0, 50));
    await audiences.remove({ sourceId: 'web', name: 'Big Spenders' });
    await eventually(
      () => audiences.get('web', 'Big Spenders'),
      (audience) => audience === undefined,
    );
    assert.deepEqual(sentChanges(stage), [...joined(users(0, 50)), ...left(users(0, 50))].sort());
    assert.deepEqual(audiences.list('web'), []);
    await assert.rejects(audiences.remove({ sourceId: 'web', name: 'Big Spenders' }), { code: 'not-found' });
    await using other = await stage.open();
    assert.deepEqual(other.list('web'), []);
    assert.equal((await sync(other, ['ada'], { name: 'big-spenders' })).sync.added, 1);
  });

  test('an invalid upload is refused, and changes nothing', async () => {
    await using stage = await createStage();
    await using audiences = await stage.open();
    await sync(audiences, ['ada']);
    const refusals: readonly (readonly [readonly string[], Wish, string])[] = [
      [['bob', ''], {}, 'invalid-membership'],
      [[], {}, 'invalid-membership'],
      [['bob'], { name: '!' }, 'invalid-request'],
      [['bob'], { name: 'BigSpenders' }, 'conflict'],
      [['bob'], { sourceId: 'off' }, 'conflict'],
    ];
    for (const [userIds, wish, code] of refusals)
      await assert.rejects(upload(audiences, userIds, wish), { code });
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.from('"bob"\n');
      await Promise.resolve();
      throw new Error('aborted');
    }
    const request = { kind: 'replace', sourceId: 'web', name: 'Big Spenders', format: 'ndjson' } as const;
    await assert.rejects(audiences.sync({ ...request, stream: broken() }), { message: 'aborted' });
    assert.deepEqual(sentChanges(stage), ['+ada']);
    assert.equal((await sync(audiences, [], { allowEmpty: true })).members, 0);
    assert.deepEqual(sentChanges(stage), ['+ada', '-ada']);
  });

  test('13.3 a stopped sync is interrupted for every instance, and the same upload sends exactly the rest', async () => {
    await using stage = await createStage();
    const first = await stage.open();
    await upload(first, users(0, 2_000), slow);
    await sentReaches(stage, 2);
    await first.close();
    const sent = sentChanges(stage).length;
    assert.ok(sent >= 2 && sent < 2_000, String(sent));
    await using second = await stage.open();
    const interrupted = second.get('web', 'Big Spenders');
    assert.deepEqual(
      [interrupted?.sync.state, interrupted?.sync.sent, interrupted?.members],
      ['interrupted', sent, sent],
    );
    assert.match(interrupted?.sync.problem?.message ?? '', /Sync again: only the rest is sent\.$/);
    const { sync: ended, members } = await sync(second, users(0, 2_000));
    assert.deepEqual([ended.total, members], [2_000 - sent, 2_000]);
    assert.deepEqual(sentChanges(stage), joined(users(0, 2_000)).sort());
  });

  test('a later sync takes over from a running one of the same or another instance', async () => {
    await using stage = await createStage();
    await using one = await stage.open();
    await using two = await stage.open();
    const first = await upload(one, users(0, 2_000), slow);
    await sentReaches(stage, 2);
    assert.equal(two.get('web', 'Big Spenders')?.sync.state, 'running');
    await sync(two, users(100, 500));
    const seen = await eventually(
      () => one.get('web', 'Big Spenders'),
      (audience) => audience?.sync.id !== first.sync.id,
    );
    assert.deepEqual([seen?.sync.state, seen?.members], ['done', 400]);
    const changes = sentChanges(stage);
    const members = new Set<string>();
    for (const change of changes.filter((change) => change.startsWith('+'))) {
      assert.ok(!members.has(change.slice(1)), `${change} twice`);
      members.add(change.slice(1));
    }
    for (const change of changes.filter((change) => change.startsWith('-')))
      assert.ok(members.delete(change.slice(1)));
    assert.deepEqual([...members].sort(), users(100, 500).sort());
  });

  test('a user who was deleted before an upload joins again, where the clock of the deletion is ahead', async () => {
    await using stage = await createStage();
    await using audiences = await stage.open();
    const requests = [{ id: 'r-1', at: new Date(Date.now() + 3_600_000).toISOString() }];
    const deleted = { kind: 'deleted', userId: 'user 1', scope: 'web', requests } as const;
    await stage.publish(encodeDeleted(names.suppressions, deleted));
    const { sync: ended } = await sync(audiences, users(0, 3));
    assert.deepEqual([ended.sent, ended.refused], [3, undefined]);
  });

  test('a limited token has a longest time for an upload and its sync, and a later sync sends the rest', async () => {
    await using stage = await createStage();
    await using stalling = await stage.open({ longestMs: 100 });
    const endless = async function* () {
      yield Buffer.from('"user 0"\n');
      await new Promise(() => undefined);
    };
    const request = { kind: 'replace', sourceId: 'web', name: 'Endless', format: 'ndjson' } as const;
    const stalled = stalling.sync({ ...request, stream: endless(), asker: limited });
    await assert.rejects(stalled, { code: 'took-too-long' });
    // The upload has the same limit as its sync, which takes more than three minutes: the shortest that this machine keeps.
    await using instances = new AsyncDisposableStack();
    const begin = async ([longestMs = NaN, ...longer]: readonly number[]): Promise<Audiences> => {
      const audiences = instances.use(await stage.open({ longestMs }));
      const request = upload(audiences, users(0, 200), { ratePerSecond: 1, asker: limited });
      const isInTime = await request.then(
        () => true,
        () => false,
      );
      return isInTime || longer.length === 0 ? audiences : begin(longer);
    };
    const audiences = await begin([500, 5_000, 50_000]);
    const { sync: ended } = await untilEnded(audiences);
    assert.deepEqual([ended.state, ended.problem?.code], ['interrupted', 'took-too-long']);
    await sync(audiences, users(0, 200));
    assert.deepEqual(sentChanges(stage), joined(users(0, 200)).sort());
  });

  test('disabling the source ends its sync, and every recorded membership was sent', async () => {
    await using stage = await createStage();
    await using audiences = await stage.open();
    await upload(audiences, users(0, 2_000), slow);
    await sentReaches(stage, 2);
    stage.enabled.delete('web');
    const ended = await untilEnded(audiences);
    assert.deepEqual([ended.sync.state, ended.sync.problem?.code], ['failed', 'unknown-source']);
    assert.equal(sentChanges(stage).length, ended.members);
    stage.enabled.add('web');
    await sync(audiences, users(0, 2_000));
    assert.deepEqual(sentChanges(stage), joined(users(0, 2_000)).sort());
  });

  for (const kind of ['replace', 'change', 'send'] as const) {
    test(`13.3 each call is sent once even if responses of Kafka are lost (${kind})`, async () => {
      await using stage = await createStage();
      await using audiences = await stage.open();
      const { cluster } = stage;
      if (kind === 'send') await sync(audiences, users(0, 300));
      const before = sentChanges(stage);
      const losses = [
        { after: 60, lose: () => (cluster.loseCommitAnswers = 1) },
        // A request is repeated five times: one transaction fails, and the next one repeats its second request.
        { after: 180, lose: () => (cluster.loseProduceAnswers = 8) },
      ];
      cluster.onChange(() => {
        const [next] = losses;
        if (next && sentChanges(stage).length >= before.length + next.after) losses.shift()?.lose();
      });
      const ratePerSecond = 300;
      if (kind === 'send') await audiences.sync({ ...toCrm, ratePerSecond });
      else await upload(audiences, users(0, 300), { kind, ratePerSecond });
      const ended = await untilEnded(audiences);
      assert.deepEqual([ended.sync.state, ended.sync.sent, ended.members], ['done', 300, 300]);
      assert.deepEqual([losses, cluster.loseCommitAnswers, cluster.loseProduceAnswers], [[], 0, 0]);
      assert.deepEqual(sentChanges(stage), [...before, ...joined(users(0, 300))].sort());
    });
  }

  test('13.2 a change sends exactly the users that it names and who are not yet as it says', async () => {
    await using stage = await createStage();
    await using audiences = await stage.open();
    await sync(audiences, users(0, 100));
    const wanted = ['ada', 'bob', '-bob', 'user 1', '-user 2', '-eve'];
    const { members, sync: ended } = await sync(audiences, wanted, change);
    assert.deepEqual([members, ended.members, ended.added, ended.removed, ended.sent], [100, 5, 1, 1, 2]);
    const expected = [...joined(users(0, 100)), '+ada', '-user 2'].sort();
    assert.deepEqual(sentChanges(stage), expected);
    assert.equal((await sync(audiences, wanted, change)).sync.total, 0);
    assert.equal((await sync(audiences, [], change)).sync.total, 0);
    assert.deepEqual(sentChanges(stage), expected);
    // A whole list knows of the change.
    assert.deepEqual((await sync(audiences, users(0, 100))).sync.total, 2);
    // Without a list before, the first change makes the audience.
    assert.equal((await sync(audiences, ['ada'], { ...change, name: 'New' })).members, 1);
  });

  test('a change is refused beside a whole list, which sends everything', async () => {
    await using stage = await createStage();
    await using one = await stage.open();
    await using two = await stage.open();
    await upload(one, users(0, 300), { ratePerSecond: 300 });
    for (const audiences of [one, two]) {
      await assert.rejects(upload(audiences, ['ada'], change), { code: 'conflict' });
      await assert.rejects(audiences.sync(toCrm), { code: 'conflict' });
    }
    assert.equal((await untilEnded(one)).sync.state, 'done');
    assert.deepEqual(sentChanges(stage), joined(users(0, 300)).sort());
    await eventually(
      () => two.get('web', 'Big Spenders')?.sync.state,
      (state) => state === 'done',
    );
    await sync(two, ['ada'], change);
  });

  test('a whole list begins while a change is read, and only the change is refused', async () => {
    await using stage = await createStage();
    await using one = await stage.open();
    await using two = await stage.open();
    const gate = Promise.withResolvers<undefined>();
    const stream = async function* () {
      yield Buffer.from('{"added":["ada"]}\n');
      await gate.promise;
    };
    const wanted = { ...change, sourceId: 'web', name: 'Big Spenders', format: 'ndjson' } as const;
    const changed = two.sync({ ...wanted, stream: stream() });
    const refused = assert.rejects(changed, { code: 'conflict' });
    await upload(one, users(0, 300), { ratePerSecond: 300 });
    gate.resolve(undefined);
    await refused;
    assert.equal((await untilEnded(one)).sync.state, 'done');
    assert.deepEqual(sentChanges(stage), joined(users(0, 300)).sort());
  });

  test('a whole list takes over from a running change', async () => {
    await using stage = await createStage();
    await using audiences = await stage.open();
    await upload(audiences, users(0, 2_000), { ...change, ...slow });
    await sentReaches(stage, 2);
    const { members } = await sync(audiences, users(0, 100));
    assert.equal(members, 100);
    assert.deepEqual(new Set(sentChanges(stage)), new Set(joined(users(0, 100))));
  });

  test('13.3 a stopped change sends exactly the rest when it is uploaded again', async () => {
    await using stage = await createStage();
    const first = await stage.open();
    await upload(first, users(0, 2_000), { ...change, ...slow });
    await sentReaches(stage, 2);
    await first.close();
    await using second = await stage.open();
    const { members } = await sync(second, users(0, 2_000), change);
    assert.equal(members, 2_000);
    assert.deepEqual(sentChanges(stage), joined(users(0, 2_000)).sort());
  });

  test('13.4 the present members are sent to one destination, and nobody joins or leaves', async () => {
    await using stage = await createStage();
    await using audiences = await stage.open();
    await assert.rejects(audiences.sync(toCrm), { code: 'not-found' });
    await sync(audiences, ['ada', 'bob', 'cleo']);
    await sync(audiences, ['-cleo'], change);
    const { added, removed, joining } = await audiences.preview(toCrm);
    assert.deepEqual([added, removed, joining], [2, 0, ['ada', 'bob']]);
    await audiences.sync(toCrm);
    const { members, sync: ended } = await untilEnded(audiences);
    assert.deepEqual([ended.state, ended.sent, ended.destination, members], ['done', 2, 'crm', 2]);
    const integrations = { All: false, Webhooks: { All: false, crm: true } };
    const sent = stage.cluster
      .records(names.events)
      .map(({ value }) => JSON.parse(value?.toString() ?? '') as SentCall & { integrations?: object })
      .filter((call) => call.integrations !== undefined);
    assert.deepEqual(sent.map(({ userId }) => userId).sort(), ['ada', 'bob']);
    for (const call of sent) assert.deepEqual(call.integrations, integrations);
    assert.equal((await sync(audiences, ['ada', 'bob'])).sync.total, 0);
    await audiences.sync(toCrm);
    assert.equal((await untilEnded(audiences)).sync.sent, 2, 'a second request sends them again');
    stage.enabled.delete('crm');
    await assert.rejects(audiences.sync(toCrm), { code: 'conflict' });
  });

  test('13.4 a send that was stopped, or whose destination was disabled, continues with the rest', async () => {
    await using stage = await createStage();
    const first = await stage.open();
    await sync(first, users(0, 500));
    await first.sync({ ...toCrm, ...slow });
    await sentReaches(stage, 502);
    await first.close();
    await using second = await stage.open();
    await second.sync({ ...toCrm, ...slow });
    await sentReaches(stage, 505);
    stage.enabled.delete('crm');
    const failed = await untilEnded(second);
    assert.deepEqual([failed.sync.state, failed.sync.problem?.code], ['failed', 'conflict']);
    stage.enabled.add('crm');
    await second.sync(toCrm);
    const { sync: ended, members } = await untilEnded(second);
    assert.deepEqual([ended.state, members], ['done', 500]);
    assert.deepEqual(sentChanges(stage), [...joined(users(0, 500)), ...joined(users(0, 500))].sort());
  });

  test('13.4 an instance whose send failed shows the one of another instance that continues it, and refuses a third', async () => {
    await using stage = await createStage();
    await using one = await stage.open();
    await sync(one, users(0, 500));
    await one.sync({ ...toCrm, ...slow });
    await sentReaches(stage, 502);
    stage.enabled.delete('crm');
    assert.equal((await untilEnded(one)).sync.state, 'failed');
    stage.enabled.add('crm');
    await using two = await stage.open();
    await two.sync({ ...toCrm, ...slow });
    await assert.rejects(one.sync(toCrm), { code: 'conflict' });
    assert.equal(one.get('web', 'Big Spenders')?.sync.state, 'running');
    await two.close();
    await one.sync(toCrm);
    assert.equal((await untilEnded(one)).sync.state, 'done');
    assert.deepEqual(sentChanges(stage), [...joined(users(0, 500)), ...joined(users(0, 500))].sort());
  });
});
