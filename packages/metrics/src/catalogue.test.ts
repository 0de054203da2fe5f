import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue, exposedNames, firstSeries, labelNamesOf, pageOf } from './catalogue.ts';
import type { MetricSpec } from './metric.ts';

const metrics = Object.entries<MetricSpec>(catalogue);
const own = metrics.filter(([name]) => name.startsWith('tailrace_'));

test('names say type and unit as Prometheus recommends', () => {
  for (const [name, { type, unit }] of metrics) {
    assert.match(name, /^[a-z]+(_[a-z0-9]+)+$/);
    assert.equal(name.endsWith('_total'), type === 'counter', name);
    const base = name.replace(/_total$/, '');
    for (const suffix of ['seconds', 'bytes', 'ratio', 'info'] as const) {
      assert.equal(base.endsWith(`_${suffix}`), unit === suffix, `${name}: ${unit}`);
    }
  }
});

test('parts are on pages under names of their own, so that no sum counts twice', () => {
  for (const [name, spec] of own) {
    const [, part] = /^tailrace_(destination|source|partition)_/.exec(name) ?? [];
    assert.equal(pageOf(spec), part === undefined ? '/metrics' : `/metrics/${part}s`, name);
  }
});

test('only histograms have buckets, and these increase', () => {
  for (const [name, { type, buckets }] of metrics) {
    assert.equal(buckets !== undefined, type === 'histogram', name);
    for (const [place, bound] of (buckets ?? []).entries()) {
      assert.ok(place === 0 || bound > (buckets?.[place - 1] ?? 0), `${name}: ${bound}`);
    }
  }
});

test('ages have buckets for 8 ms, 5 s, 30 s and 4 h', () => {
  for (const name of [
    'tailrace_routing_delay_seconds',
    'tailrace_delivery_first_attempt_delay_seconds',
    'tailrace_delivery_age_seconds',
  ] as const) {
    const bounds: readonly number[] = catalogue[name].buckets;
    for (const bound of [0.008, 5, 30, 14_400]) assert.ok(bounds.includes(bound), `${name}: ${bound}`);
  }
});

test('first series have all labels, with values of their sets', () => {
  for (const [name, spec] of metrics) {
    const labels = labelNamesOf(spec);
    for (const series of firstSeries(spec)) {
      assert.deepEqual(Object.keys(series).sort(), [...labels].sort(), name);
      for (const [label, value] of Object.entries(series)) {
        const allowed = spec.labels?.[label];
        assert.ok(allowed && (!('values' in allowed) || allowed.values.includes(value)), `${name}: ${value}`);
      }
    }
  }
});

test('a metric whose labels are all closed begins with every combination that can occur', () => {
  assert.deepEqual(firstSeries(catalogue.tailrace_deliveries_ended_total), [
    { outcome: 'delivered' },
    { outcome: 'dead' },
  ]);
  const attempts = firstSeries(catalogue.tailrace_delivery_attempts_total);
  assert.ok(attempts.some(({ outcome, reason }) => outcome === 'retry' && reason === 'timeout'));
  assert.ok(!attempts.some(({ outcome, reason }) => outcome === 'delivered' && reason !== ''));
  assert.deepEqual(firstSeries(catalogue.tailrace_consumer_lag_records), []);
});

test('help is one or two full sentences', () => {
  for (const [name, { help }] of own) assert.match(help, /^[A-Z0-9][^]*\.$/, name);
});

test('a scrape names the parts of histograms and summaries', () => {
  const names = new Map(exposedNames().map(({ name, labels }) => [name, labels]));
  assert.deepEqual(names.get('tailrace_delivery_age_seconds_bucket'), ['attempt', 'le']);
  assert.deepEqual(names.get('tailrace_destination_delivery_age_seconds_count'), ['destination_id']);
  assert.ok(!names.has('tailrace_delivery_age_seconds'));
  assert.deepEqual(names.get('tailrace_ready'), []);
});
