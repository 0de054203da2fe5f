import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Backlog, BacklogBuilder } from './backlog.ts';
import { Chains, type Link } from './chains.ts';

const fresh = (key: number, sequence: number): Link => ({ key, sequence, bytes: 100, returned: false });
const returned = (key: number, sequence: number): Link => ({ ...fresh(key, sequence), returned: true });

describe('deliveries of one key', () => {
  test('are sent one after another, while those of another key continue', () => {
    const chains = new Chains();
    assert.equal(chains.arrive(fresh(1, 10), 0), 'send');
    assert.equal(chains.arrive(fresh(1, 11), 0), 'queued');
    assert.equal(chains.arrive(fresh(1, 12), 0), 'queued');
    assert.equal(chains.arrive(fresh(2, 13), 0), 'send');
    assert.equal(chains.ended(fresh(1, 10), 5)?.sequence, 11);
    assert.equal(chains.ended(fresh(1, 11), 5)?.sequence, 12);
    assert.equal(chains.ended(fresh(1, 12), 5), undefined);
    assert.equal(chains.arrive(fresh(1, 14), 9), 'send');
  });

  test('follow the first one into a retry topic in order, and so do later ones', () => {
    const chains = new Chains();
    for (const sequence of [10, 11, 12]) chains.arrive(fresh(1, sequence), 0);
    const behind = chains.left(fresh(1, 10), 5_000);
    assert.deepEqual(
      behind.map(({ sequence }) => sequence),
      [11, 12],
    );
    assert.equal(chains.arrive(fresh(1, 13), 100), 'behind');
    assert.equal(chains.backlog.until(fresh(1, 13).key), 5_000);
    assert.equal(chains.arrive(fresh(2, 14), 100), 'send');
  });

  test('continue to wait where they return before an earlier one', () => {
    const chains = new Chains();
    chains.arrive(fresh(1, 10), 0);
    chains.arrive(fresh(1, 11), 0);
    chains.left(fresh(1, 10), 5_000);
    assert.equal(chains.arrive(returned(1, 11), 4_000), 'behind');
    assert.equal(chains.backlog.until(returned(1, 11).key), 5_000);
    assert.equal(chains.arrive(returned(1, 10), 5_000), 'send');
    assert.equal(chains.arrive(returned(1, 11), 5_000), 'queued');
    assert.equal(chains.ended(returned(1, 10), 5_000)?.sequence, 11);
  });

  test('are not sent again while another copy is unfinished', () => {
    const backlog = new Backlog();
    for (const sequence of [10, 11, 11]) backlog.add(1, sequence, 5_000);
    const chains = new Chains(backlog);
    assert.equal(chains.arrive(fresh(1, 10), 0), 'stale');
    assert.equal(chains.arrive(returned(1, 11), 0), 'stale');
    assert.equal(chains.arrive(returned(1, 10), 0), 'send');
    assert.equal(chains.arrive(fresh(1, 10), 0), 'stale');
    assert.equal(chains.arrive(returned(1, 11), 0), 'queued');
    assert.equal(chains.arrive(returned(1, 11), 0), 'stale');
  });

  test('that do not fit into memory wait in a retry topic for as long as the others will take', () => {
    const chains = new Chains();
    chains.arrive(fresh(1, 0), 0);
    let sequence = 1;
    while (chains.arrive(fresh(1, sequence), 0) === 'queued') sequence += 1;
    assert.ok(sequence > 100 && sequence < 1_000, `${sequence}`);
    assert.ok(chains.backlog.until(fresh(1, sequence).key) >= sequence);
    assert.equal(chains.arrive(fresh(1, sequence + 1), 0), 'behind');
    assert.equal(chains.arrive(fresh(2, sequence + 2), 0), 'send');
    assert.equal(chains.arrive(fresh(2, sequence + 3), 0), 'queued');
  });

  test('wait for the first only until it is recalled', () => {
    const chains = new Chains();
    for (const sequence of [10, 11]) chains.arrive(fresh(1, sequence), 0);
    chains.left(fresh(1, 10), 5_000);
    assert.equal(chains.arrive({ ...returned(1, 10), recalled: true }, 3_000), 'send');
    assert.equal(chains.backlog.until(fresh(1, 12).key), 3_000);
  });

  test('that die behind an earlier one block later ones until the dead letter is written', () => {
    const chains = new Chains();
    for (const sequence of [10, 11]) chains.arrive(fresh(1, sequence), 0);
    chains.left(fresh(1, 10), 5_000);
    assert.equal(chains.arrive(returned(1, 10), 5_000), 'send');
    assert.equal(chains.ended(returned(1, 10), 5_000), undefined);
    assert.equal(chains.arrive(fresh(1, 12), 5_000), 'behind');
    chains.gone(returned(1, 11));
    assert.equal(chains.arrive(returned(1, 12), 5_000), 'send');
  });

  test('in a long queue are found, added and taken without a scan', () => {
    const chains = new Chains();
    let looks = 0;
    const queued = (sequence: number): Link =>
      Object.defineProperty({ ...fresh(1, 0) }, 'sequence', { get: () => ((looks += 1), sequence) });
    chains.arrive(fresh(1, 0), 0);
    for (let sequence = 2; sequence <= 600; sequence += 2) chains.arrive(queued(sequence), 0);
    looks = 0;
    assert.equal(chains.arrive(fresh(1, 301), 0), 'queued');
    assert.equal(chains.arrive(fresh(1, 300), 0), 'stale');
    assert.equal(chains.ended(fresh(1, 0), 0)?.sequence, 2);
    assert.ok(looks < 60, `${looks}`);
  });

  test('release all memory', () => {
    const chains = new Chains();
    const countQueued = (): number => {
      chains.arrive(fresh(1, 0), 0);
      let sequence = 1;
      while (chains.arrive(fresh(1, sequence), 0) === 'queued') sequence += 1;
      chains.left(fresh(1, 0), 0);
      for (let back = 0; back <= sequence; back += 1) {
        assert.equal(chains.arrive(returned(1, back), 0), 'send');
        chains.ended(returned(1, back), 0);
      }
      return sequence;
    };
    const first = countQueued();
    assert.equal(countQueued(), first);
    assert.equal(chains.backlog.keys, 0);
  });
});

/** A record of `deliveries` or of a retry topic. */
interface Stored {
  readonly key: number;
  readonly sequence: number;
  readonly returned: boolean;
}

interface Held extends Link {
  readonly source: Stored;
}

/**
 * Kafka, and one owner of the partition at a time, whose memory is lost at a crash or a rebalance. The records that it
 * finished since its last commit are unfinished again then, and a record that it was writing may still be written.
 */
class World {
  readonly #random: (below: number) => number;
  readonly #deliveries: readonly Stored[];
  readonly #tiers: Stored[] = [];
  readonly #committed = new Set<Stored>();
  readonly #finished = new Set<Stored>();
  readonly #received = new Set<Stored>();
  /** Follow-up records that the present owner is writing, in order. */
  #writing: {
    readonly copy: Stored;
    readonly source: Stored;
    readonly link: Held;
    readonly isBehind: boolean;
  }[] = [];
  readonly #straying: Stored[] = [];
  #sending: Held[] = [];
  /** Deliveries that an earlier owner has in flight. */
  #strays: Held[] = [];
  /** Deliveries that died behind others, whose dead letters are being written. */
  #dying: Held[] = [];
  readonly delivered = new Set<number>();
  readonly dead = new Set<number>();
  #chains = new Chains<Held>();

  constructor(keys: readonly number[], random: (below: number) => number) {
    this.#random = random;
    this.#deliveries = keys.map((key, sequence) => ({ key, sequence, returned: false }));
  }

  get over(): boolean {
    return [...this.#deliveries, ...this.#tiers].every((record) => this.#finished.has(record));
  }

  get backlogKeys(): number {
    return this.#chains.backlog.keys;
  }

  takeFresh(): void {
    const record = this.#deliveries.find((record) => this.#isNew(record));
    if (record) this.#arrive(record);
  }

  /**
   * Receives any record of a retry topic, because nothing may rely on due times. `deliveries` was read beyond its sequence,
   * as order.ts guarantees.
   */
  takeDue(): void {
    const next = this.#deliveries.findIndex((record) => this.#isNew(record));
    const record = this.#pick(
      this.#tiers.filter((record) => this.#isNew(record) && (next < 0 || record.sequence < next)),
    );
    if (record) this.#arrive(record);
  }

  succeed(): void {
    const link = this.#takeOut(this.#sending);
    if (!link) return;
    this.#deliver(link);
    this.#finished.add(link.source);
    this.#follow(link);
  }

  die(): void {
    const link = this.#takeOut(this.#sending);
    if (!link) return;
    this.dead.add(link.sequence);
    this.#finished.add(link.source);
    this.#follow(link);
  }

  /** A delivery is retried, parked or deferred. */
  fail(): void {
    const link = this.#takeOut(this.#sending);
    if (!link) return;
    this.#write(link, false);
    for (const behind of this.#chains.left(link, 0)) this.#write(behind, true);
  }

  /** A delivery behind others dies, if its follow-up record is not written yet. */
  giveUp(): void {
    const place = this.#random(Math.max(1, this.#writing.length));
    const given = this.#writing[place];
    if (!given?.isBehind) return;
    this.#writing.splice(place, 1);
    this.#dying.push(given.link);
  }

  writeDeadLetter(): void {
    const link = this.#takeOut(this.#dying);
    if (!link) return;
    this.dead.add(link.sequence);
    this.#finished.add(link.source);
    this.#chains.gone(link);
  }

  acknowledge(): void {
    const written = this.#writing.shift();
    if (!written) return;
    this.#tiers.push(written.copy);
    this.#finished.add(written.source);
  }

  commit(): void {
    for (const record of this.#finished) this.#committed.add(record);
  }

  /** Deliveries in flight may still arrive, and records that are being written may still be written. */
  changeOwner(): void {
    this.#strays.push(...this.#sending);
    this.#straying.push(...this.#writing.map(({ copy }) => copy).filter(() => this.#random(2) === 0));
    this.#sending = [];
    this.#writing = [];
    for (const { sequence } of this.#dying.splice(0)) if (this.#random(2) === 0) this.dead.add(sequence);
    this.#received.clear();
    this.#finished.clear();
    for (const record of this.#committed) this.#finished.add(record);
    const backlog = new BacklogBuilder();
    for (const record of this.#tiers) {
      if (!this.#finished.has(record)) backlog.add(record.key, record.sequence, 0);
    }
    this.#chains = new Chains(backlog.build());
  }

  stray(): void {
    const link = this.#takeOut(this.#strays);
    if (link) this.#deliver(link);
    const copy = this.#takeOut(this.#straying);
    if (copy) this.#tiers.push(copy);
  }

  #isNew(record: Stored): boolean {
    return !this.#finished.has(record) && !this.#received.has(record);
  }

  #arrive(source: Stored): void {
    this.#received.add(source);
    const link = { ...source, bytes: 1, source };
    const verdict = this.#chains.arrive(link, 0);
    if (verdict === 'send') this.#send(link);
    else if (verdict === 'behind') this.#write(link, true);
    else if (verdict === 'stale') this.#finished.add(source);
    if (verdict !== 'send') {
      const others = [
        ...this.#sending,
        ...this.#dying,
        ...this.#writing.map(({ copy }) => copy).filter(({ sequence }) => sequence !== source.sequence),
        ...this.#tiers.filter((record) => record !== source && !this.#finished.has(record)),
      ];
      const same = verdict === 'stale' ? [...others, ...this.#writing.map(({ copy }) => copy)] : others;
      assert.ok(
        same.some(({ key }) => key === source.key),
        'a waiting delivery waits for another one of its key',
      );
    }
  }

  #send(link: Held): void {
    assert.ok(!this.#sending.some(({ key }) => key === link.key), 'one of a key is sent at a time');
    this.#sending.push(link);
  }

  #deliver({ key, sequence }: Held): void {
    if (!this.delivered.has(sequence)) {
      for (const earlier of this.#deliveries) {
        if (earlier.key !== key || earlier.sequence >= sequence) continue;
        assert.ok(
          this.delivered.has(earlier.sequence) || this.dead.has(earlier.sequence),
          `${sequence} overtook ${earlier.sequence}`,
        );
      }
    }
    this.delivered.add(sequence);
  }

  #follow(link: Held): void {
    const next = this.#chains.ended(link, 0);
    if (next) this.#send(next);
  }

  #write(link: Held, isBehind: boolean): void {
    const { key, sequence, source } = link;
    this.#writing.push({ copy: { key, sequence, returned: true }, source, link, isBehind });
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return list[this.#random(Math.max(1, list.length))];
  }

  #takeOut<T>(list: T[]): T | undefined {
    return list.splice(this.#random(Math.max(1, list.length)), 1)[0];
  }
}

test('11.2 after any sequence of failures, crashes, rebalances and returns, none overtakes and none is lost', () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('takeFresh', 'takeDue', 'acknowledge') },
    { weight: 5, arbitrary: fc.constantFrom('succeed', 'fail', 'giveUp', 'writeDeadLetter') },
    { weight: 1, arbitrary: fc.constantFrom('die', 'commit', 'changeOwner', 'stray') },
  );
  const keys = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 20 });
  const steps = fc.array(step, { maxLength: 300, size: 'max' });
  fc.assert(
    fc.property(keys, steps, fc.infiniteStream(fc.nat()), (keys, steps, stream) => {
      const random = (below: number): number => (stream.next().value as number) % below;
      const world = new World(keys, random);
      for (const step of steps) world[step as 'takeFresh']();

      const drain = ['stray', 'writeDeadLetter', 'takeFresh', 'takeDue', 'acknowledge', 'succeed'] as const;
      for (let round = 0; !world.over; round += 1) {
        assert.ok(round < 2_000, 'a delivery waits for ever');
        for (const step of drain) world[step]();
      }
      const ended = keys.filter((_, sequence) => world.delivered.has(sequence) || world.dead.has(sequence));
      assert.equal(ended.length, keys.length);
      assert.equal(world.backlogKeys, 0);
    }),
    { numRuns: 1_000 },
  );
});
