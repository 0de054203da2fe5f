/**
 * Measures control's own CPU time for an event of a replay, without the Kafka client: reading and selecting with a narrow filter,
 * with the filter of a destination that few events pass, and with no filter. And the memory of what was sent to a destination.
 * `node --expose-gc test/bench/replay-events.ts`.
 */
import { randomUUID } from 'node:crypto';
import type { Destination, Source } from '@tailrace/config';
import { readBack, type ConsumedRecord } from '@tailrace/kafka';
import { noRegistry } from '@tailrace/registry';
import type { EventSelection } from '../../services/control/src/replays/events/selection.ts';
import { createSelector } from '../../services/control/src/replays/events/selector.ts';
import { SentDeliveries } from '../../services/control/src/replays/events/sent.ts';
import { median } from './figures/statistics.ts';
import { table, tenths, whole } from './figures/table.ts';

const rounds = 9;
const perRound = 20_000;
const now = Date.now();
const source: Source = { id: 'web', writeKeys: ['wk'], enabled: true };
const crm: Destination = {
  id: 'crm',
  type: 'Webhooks',
  enabled: true,
  sources: ['web'],
  settings: { webhooks: [{ url: 'https://receiver.example/hook' }] },
};

const headers = readBack({ 'source-id': 'web' });
/** As ingest stores them; one in a hundred is of each user and name. */
const records = Array.from({ length: perRound }, (_, offset): ConsumedRecord => {
  const userId = `user-${offset % 100}`;
  const time = new Date(now).toISOString();
  const call = {
    type: 'track',
    messageId: randomUUID(),
    timestamp: time,
    receivedAt: time,
    userId,
    event: `Event ${offset % 100}`,
    context: { device: { type: 'ios' }, library: { name: 'bench', version: '1' } },
    properties: { total: 25.5, region: 'eu', text: 'x'.repeat(750) },
  };
  const value = Buffer.from(JSON.stringify(call));
  return {
    topic: 'events',
    partition: 0,
    offset,
    timestamp: now,
    key: Buffer.from(userId),
    value,
    ...headers,
  };
});

function selectorOf(destination: Destination, more: Partial<EventSelection>) {
  const config = {
    source: () => source,
    sourceByWriteKey: () => source,
    destination: () => destination,
    destinationsOf: () => enabled,
    disabledDestinationsOf: () => none,
  };
  const [enabled, none] = [[destination], []];
  const users = { isSuppressed: () => false, deletions: 0, deletionsOf: () => [] };
  const selection = {
    destinationId: 'crm',
    from: now - 1,
    until: now + 1,
    mode: 'missing',
    ...more,
  } as const;
  return createSelector({ config, frames: noRegistry, users }, selection);
}

const eu = { condition: { field: 'properties.region', equals: 'us' } } as const;
const cases = [
  { name: 'another source', select: selectorOf(crm, { sources: ['app'] }) },
  { name: 'one user of 100', select: selectorOf(crm, { userKey: 'user-7' }) },
  { name: 'one event name of 100', select: selectorOf(crm, { events: ['Event 7'] }) },
  { name: 'a condition that none meets', select: selectorOf({ ...crm, filter: eu }, {}) },
  { name: 'all', select: selectorOf(crm, {}) },
].map((one) => ({ ...one, micros: [] as number[], selected: 0 }));

for (let round = -2; round < rounds; round += 1) {
  for (const one of cases) {
    const before = process.cpuUsage();
    one.selected = records.filter((record) => one.select(record).outcome === 'selected').length;
    const { user, system } = process.cpuUsage(before);
    // The first rounds are for the compiler.
    if (round >= 0) one.micros.push((user + system) / perRound);
  }
}
const rows = cases.map(({ name, micros, selected }) => [
  name,
  whole(selected),
  tenths(median(micros)),
  whole(1e6 / median(micros)),
]);
console.log(
  table(['selection', `selected of ${whole(perRound)}`, 'µs of CPU an event', 'events/s of a core'], rows),
);

const { gc = () => undefined } = globalThis as { readonly gc?: () => void };
/** V8 frees the memory of arrays after the collection that found them, at the latest in the next one. */
const collect = (): void => {
  gc();
  gc();
};
collect();
const memory = (): number => process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
const start = memory();
const sent = new SentDeliveries('replay');
const grown = [100_000, 1_000_000, 2_000_000].map((count, nth, counts) => {
  for (let n = counts[nth - 1] ?? 0; n < count; n += 1) sent.wasSent(randomUUID());
  collect();
  return [whole(count), tenths((memory() - start) / 2 ** 20)];
});
console.log(table(['deliveries of the destination', 'MB'], grown));
