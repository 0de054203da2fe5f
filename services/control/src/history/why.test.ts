import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Source } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { readBack, type ConsumedRecord, type Scan } from '@tailrace/kafka';
import { explainEvent, type ExplainerDependencies } from './why.ts';

const web: Source = { id: 'web', writeKeys: ['wk_web'], enabled: true };
const at = 1_800_000_000_000;

interface Given {
  /** Topics that hold the record of the event. Default: `events`. */
  readonly topics?: readonly string[];
  readonly headers?: Record<string, string>;
  readonly source?: Source;
  /** Offsets that the router has committed, by topic; an error where Kafka does not say. */
  readonly committed?: Readonly<Record<string, number>> | TailraceError;
  /** The topic is not read to its end. */
  readonly timesOut?: boolean;
}

/** Explains an event whose call is at offset 7 of some topics. */
async function explain(
  call: object,
  {
    topics = ['events'],
    headers = { 'source-id': 'web' },
    source = web,
    committed = {},
    timesOut,
  }: Given = {},
) {
  const stopping = new AbortController();
  const recordIn = (topic: string): ConsumedRecord => ({
    topic,
    partition: 0,
    offset: 7,
    timestamp: at,
    key: null,
    value: Buffer.from(JSON.stringify({ messageId: 'm-1', userId: 'ada', ...call })),
    ...readBack(headers),
  });
  const searched: ExplainerDependencies = {
    kafka: {
      scan: ({ topic }): Promise<Scan> => {
        if (timesOut) stopping.abort();
        return Promise.resolve({
          ends: new Map(),
          progress: { read: 0, total: 1 },
          close: () => Promise.resolve(),
          [Symbol.asyncIterator]: () =>
            (topics.includes(topic) ? [[recordIn(topic)]] : [])[
              Symbol.iterator
            ]() as unknown as AsyncIterator<ConsumedRecord[]>,
        });
      },
      inspectGroup: (group, asked) => {
        assert.equal(group, 'router');
        if (committed instanceof TailraceError) return Promise.reject(committed);
        const heads = new Map(asked.map((topic) => [topic, new Map([[0, committed[topic] ?? 0]])]));
        return Promise.resolve({ members: 1, lag: new Map(), heads });
      },
    },
    names: { events: 'events', eventsWaiting: 'waiting', eventsRejected: 'rejected' },
    routerGroup: 'router',
    config: {
      source: (id) => (id === source.id ? source : undefined),
      sourceByWriteKey: (key) => (source.writeKeys.includes(key) ? source : undefined),
    },
    signal: stopping.signal,
  };
  return explainEvent(searched, 'm-1', 0);
}

const outcomeOf = async (...given: Parameters<typeof explain>): Promise<string> =>
  (await explain(...given)).outcome;

describe('an event that has neither deliveries nor a decision', () => {
  const track = { type: 'track', event: 'Order Completed' };

  test('is not routed while the router has not finished it', async () => {
    const { outcome, explanation, accepted } = await explain(track, {
      headers: { 'write-key': 'wk_web' },
      committed: { events: 7 },
    });
    assert.equal(outcome, 'not-routed');
    assert.match(explanation, /the router has not finished it yet/);
    assert.deepEqual(accepted, { partition: 0, offset: 7, at, sourceId: 'web', ...track });
  });

  test('is not recorded where the router has read it: nothing is guessed from the configuration of today', async () => {
    const off = { integrations: { All: false } };
    for (const call of [track, { ...track, ...off }]) {
      const { outcome, explanation } = await explain(call, { committed: { events: 8 } });
      assert.equal(outcome, 'not-recorded');
      assert.match(explanation, /a router of the release before read it, which recorded no decisions/);
    }
  });

  test('waits for its schema while it is unfinished in events.waiting', async () => {
    const topics = ['events', 'waiting'];
    const { outcome, explanation } = await explain(track, { topics, committed: { events: 8, waiting: 7 } });
    assert.equal(outcome, 'not-routed');
    assert.match(explanation, /waits in events\.waiting for its schema/);
    const both = { topics, committed: { events: 8, waiting: 8 } };
    assert.equal(await outcomeOf(track, both), 'not-recorded');
  });

  test('may have been read where Kafka does not say how far the router is', async () => {
    const committed = new TailraceError('kafka-unavailable');
    const { outcome, explanation } = await explain(track, { committed });
    assert.equal(outcome, 'not-routed');
    assert.match(explanation, /did not say whether the router has read it/);
  });

  test('is rejected where events.rejected has it', async () => {
    const headers = { 'error-code': 'invalid-call', 'error-message': 'event is required.' };
    const { outcome, explanation } = await explain(track, { topics: ['events', 'rejected'], headers });
    assert.deepEqual([outcome, explanation], ['rejected', 'event is required.']);
  });

  test('is unknown only where everything was searched', async () => {
    assert.equal(await outcomeOf(track, { topics: [] }), 'unknown');
    assert.equal(await outcomeOf(track, { topics: [], timesOut: true }), 'not-searched');
  });
});
