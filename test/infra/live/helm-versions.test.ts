/** The chart with Helm 3. All other tests use Helm 4. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chartFolder, helm, render, valueSets, type Manifest } from '../../support/kubernetes/chart.ts';

const sorted = (objects: readonly Manifest[]): Manifest[] =>
  objects.toSorted((a, b) => `${a.kind} ${a.metadata.name}`.localeCompare(`${b.kind} ${b.metadata.name}`));

for (const name of valueSets) {
  test(`Helm 3 accepts the values ${name}, and renders what Helm 4 renders`, async () => {
    const tool = 'helm-3';
    const { code, out } = await helm(['lint', chartFolder, '--strict'], { tool, valueSets: [name] });
    assert.equal(code, 0, out);
    const rendered = await render({ tool, valueSets: [name] });
    assert.deepEqual(sorted(rendered), sorted(await render({ valueSets: [name] })));
  });
}

test('Helm 3 refuses what the chart refuses', async () => {
  for (const [values, expected] of [
    [{ settings: { KAFKA_BROKERS: '' } }, /settings\.KAFKA_BROKERS is not set/],
    [{ ingest: { resources: { limits: { memory: 'lots' } } } }, /ingest.*memory/],
  ] as const) {
    const { code, err } = await helm(['template', 'tailrace', chartFolder], { tool: 'helm-3', values });
    assert.notEqual(code, 0);
    assert.match(err, expected);
  }
});
