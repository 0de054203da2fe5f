import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConfigChange, Destination } from '@tailrace/config';
import { createMetrics } from '@tailrace/service';
import type { AttemptRecord } from '@tailrace/records';
import { DeliveryMetrics } from './metrics.ts';

/** The metrics of deliveries to destinations that may be removed. */
function open(...ids: readonly string[]) {
  const destinations = new Map(ids.map((id) => [id, destination(id)]));
  const listeners = new Set<(change: ConfigChange) => void>();
  const metrics = createMetrics();
  const config = {
    destination: (id: string) => destinations.get(id),
    onChange: (listener: (change: ConfigChange) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const log = { info: () => undefined, warn: () => undefined };
  const deliveries = new DeliveryMetrics(metrics, { config, log, logAttempts: 'none' });
  return {
    deliveries,
    remove(id: string) {
      destinations.delete(id);
      for (const listener of listeners) listener({ kind: 'destination', id });
    },
    totals: () => metrics.expose(),
    page: () => [...metrics.pages.destinations.lines()].join(''),
    [Symbol.dispose]() {
      deliveries.close();
    },
  };
}

function destination(id: string): Destination {
  return { id, type: 'Webhooks', enabled: true, sources: [], settings: { webhooks: [] } };
}

function attempt(destinationId: string, more: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    deliveryId: 'd',
    eventId: 'e',
    sourceId: 's',
    destinationId,
    type: 'track',
    userKey: 'ada',
    attempt: 1,
    startedAt: '2026-11-21T09:43:25.118Z',
    latencyMs: 4,
    outcome: 'delivered',
    urls: [],
    ...more,
  };
}

function seriesIn(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('metrics of deliveries', () => {
  test('totals are on /metrics, and values by destination on a page, under other names', async () => {
    using stage = open('crm', 'erp');
    const { deliveries } = stage;
    deliveries.attempted(attempt('crm', { latencyMs: 250 }), 1_500);
    deliveries.attempted(attempt('erp', { latencyMs: 750 }), 500);
    deliveries.attempted(attempt('erp', { outcome: 'retry', reason: 'timeout' }), 500);
    deliveries.deadLetter('erp', 'client-error');
    deliveries.waits('erp', 'deferred');
    deliveries.waits('erp', 'behind');
    deliveries.waits('crm', 'parked');
    const totals = seriesIn(await stage.totals());
    for (const line of [
      'tailrace_delivery_attempts_total{outcome="delivered",reason=""} 2',
      'tailrace_delivery_attempts_total{outcome="retry",reason="timeout"} 1',
      'tailrace_dead_letters_total{reason="client-error"} 1',
      'tailrace_deliveries_put_off_total 1',
      'tailrace_deliveries_behind_total 1',
      'tailrace_deliveries_parked_total 1',
      'tailrace_delivery_attempt_duration_seconds_count 3',
      'tailrace_delivery_age_seconds_sum{attempt="first"} 2',
      'tailrace_delivery_age_seconds_count{attempt="first"} 2',
    ]) {
      assert.ok(totals.includes(line), line);
    }
    assert.deepEqual(seriesIn(stage.page()), [
      'tailrace_destination_attempts_total{destination_id="crm",outcome="delivered",reason=""} 1',
      'tailrace_destination_attempts_total{destination_id="erp",outcome="delivered",reason=""} 1',
      'tailrace_destination_attempts_total{destination_id="erp",outcome="retry",reason="timeout"} 1',
      'tailrace_destination_attempt_duration_seconds_sum{destination_id="crm"} 0.25',
      'tailrace_destination_attempt_duration_seconds_count{destination_id="crm"} 1',
      'tailrace_destination_attempt_duration_seconds_sum{destination_id="erp"} 0.754',
      'tailrace_destination_attempt_duration_seconds_count{destination_id="erp"} 2',
      'tailrace_destination_delivery_age_seconds_sum{destination_id="crm"} 1.5',
      'tailrace_destination_delivery_age_seconds_count{destination_id="crm"} 1',
      'tailrace_destination_delivery_age_seconds_sum{destination_id="erp"} 0.5',
      'tailrace_destination_delivery_age_seconds_count{destination_id="erp"} 1',
      'tailrace_destination_dead_letters_total{destination_id="erp",reason="client-error"} 1',
      'tailrace_destination_deferred_total{destination_id="erp"} 1',
      'tailrace_destination_behind_total{destination_id="erp"} 1',
      'tailrace_destination_parked_total{destination_id="crm"} 1',
    ]);
    const names = (lines: readonly string[]): Set<string> =>
      new Set(lines.map((line) => line.split(/[ {]/, 1)[0] ?? ''));
    const onPage = names(seriesIn(stage.page()));
    assert.deepEqual(
      [...names(totals)].filter((name) => onPage.has(name)),
      [],
    );
  });

  test('/metrics does not grow with 10,000 destinations', async () => {
    const ids = Array.from({ length: 10_000 }, (_, nth) => `destination-${nth}`);
    using stage = open(...ids);
    for (const id of ids) {
      stage.deliveries.attempted(attempt(id), 10);
      for (const reason of ['timeout', 'server-error', 'connection-refused']) {
        stage.deliveries.attempted(attempt(id, { outcome: 'retry', reason }), 10);
      }
      stage.deliveries.deadLetter(id, 'attempts-exhausted');
      stage.deliveries.waits(id, 'deferred');
    }
    const text = await stage.totals();
    assert.ok(seriesIn(text).length <= 500, `${seriesIn(text).length} series`);
    assert.ok(text.length <= 50_000, `${text.length} bytes`);
    assert.doesNotMatch(text, /destination_id/);
    assert.equal(seriesIn(stage.page()).length, 10_000 * 10);
  });

  test('the series of a deleted destination are removed, and its later deliveries count as unknown', async () => {
    using stage = open('crm', 'erp');
    stage.deliveries.attempted(attempt('crm'), 10);
    stage.deliveries.attempted(attempt('erp'), 10);
    stage.remove('crm');
    assert.doesNotMatch(stage.page(), /"crm"/);
    stage.deliveries.deadLetter('crm', 'destination-deleted');
    for (let nth = 0; nth < 1_000; nth += 1)
      stage.deliveries.deadLetter(`made-up-${nth}`, 'destination-deleted');
    const dead = /^tailrace_destination_dead_letters_total.*/gm;
    assert.deepEqual(stage.page().match(dead), [
      'tailrace_destination_dead_letters_total{destination_id="unknown",reason="destination-deleted"} 1001',
    ]);
    assert.match(
      await stage.totals(),
      /^tailrace_delivery_attempts_total\{outcome="delivered",reason=""\} 2$/m,
    );
  });

  test('ages count from the acceptance, and are never below 0', async () => {
    using stage = open('crm');
    stage.deliveries.firstAttempt(300_000, 'none');
    stage.deliveries.laterAttempt(40);
    stage.deliveries.firstAttempt(-5_000, 'none');
    stage.deliveries.attempted(attempt('crm'), -5_000);
    const totals = seriesIn(await stage.totals());
    for (const line of [
      'tailrace_delivery_first_attempt_delay_seconds_bucket{held_by="none",le="60"} 1',
      'tailrace_delivery_first_attempt_delay_seconds_bucket{held_by="none",le="300"} 2',
      'tailrace_delivery_first_attempt_delay_seconds_sum{held_by="none"} 300',
      'tailrace_delivery_retry_lateness_seconds_count 1',
      'tailrace_delivery_age_seconds_sum{attempt="first"} 0',
    ]) {
      assert.ok(totals.includes(line), line);
    }
  });
});
