/** Times in headers that were written by a process with a wrong clock, with the delivery service on a real Kafka. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConsumedRecord } from '@tailrace/kafka';
import * as answers from '../support/receivers/answers.ts';
import { destinationOf, newDelivery, openDeliveryStage } from '../support/processes/delivery.ts';
import type { Environment } from '../support/processes/process.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { eventually } from '@tailrace/testing';
import { headerOf } from '../support/kafka/topics.ts';

const timeIn = (record: ConsumedRecord, name: string): number => Date.parse(headerOf(record, name) ?? '');

/** Environment of a replica whose clock is ahead, or behind if the offset is negative. */
function clockAhead(ms: number): Environment {
  const script = `const now=Date.now;Date.now=()=>now()+(${ms});`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

describe('a retry written by a replica with a wrong clock', { concurrency: true }, () => {
  for (const [what, aheadMs] of [
    ['ahead', 50 * 60_000],
    ['behind', -50 * 60_000],
  ] as const) {
    test(`is sent in time by the next owner: ${what}`, async () => {
      await using stage = await openDeliveryStage({ partitions: 1, scheduleMs: [3_000] });
      const count = 50;
      let failing = true;
      const accepted = new Set<string>();
      await using receiver = await startReceiver({
        answer({ body }) {
          if (!failing) accepted.add(body.toString());
          return answers.status(failing ? 503 : 200);
        },
      });
      const destination = destinationOf([receiver.url]);
      await stage.configure(destination);
      const window = { TAILRACE_RETRY_WINDOW: '4h' };
      const wrong = await stage.startReplica({ ...window, ...clockAhead(aheadMs) });
      const deliveries = Array.from({ length: count }, () => newDelivery(destination.id));
      await Promise.all(deliveries.map((delivery) => stage.publish(delivery)));
      const tier = await stage.watch(stage.names.retryTier(3_000));
      const [written] = await tier.waitFor(count);
      assert.ok(written && Math.abs(timeIn(written, 'first-attempt-at') - Date.now() - aheadMs) < 60_000);
      await wrong.stop();
      failing = false;
      await stage.startReplica(window);
      await eventually(
        () => accepted.size,
        (size) => size === count,
      );
    });
  }
});
