import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Api } from '../api/client.ts';
import type { CommandContext } from '../command.ts';
import { checkDestinations } from './destinations.ts';
import { planOf, type Places } from './services.ts';

type Counts = Readonly<Record<string, readonly [attempts: number, delivered: number]>>;

/** The API with these destinations. */
function apiWith(counts: Counts, others: readonly object[] = []): Pick<Api, 'list' | 'get'> {
  const items = [...Object.keys(counts).map((id) => ({ id, enabled: true })), ...others];
  return {
    list: (() => Promise.resolve({ items, more: false })) as unknown as Api['list'],
    get: ((path: string) => {
      const [, , , id = '', what] = path.split('/');
      const [attempts, delivered] = counts[id] ?? assert.fail(path);
      const failures = [
        { reason: 'timeout', count: 1 },
        { reason: 'server-error', count: 2 },
      ];
      return Promise.resolve(what === 'stats' ? { total: { attempts, delivered } } : { items: failures });
    }) as Api['get'],
  };
}

test('destinations whose attempts all fail are warnings, with the most frequent reason', async () => {
  const findings = await checkDestinations(apiWith({ bad: [3, 0], slow: [9, 1], idle: [0, 0] }));
  assert.deepEqual(
    findings.map(({ level, says }) => [level, says]),
    [['warn', 'bad fails: 3 attempts in the last 15 minutes, none delivered (server-error).']],
  );
  assert.match(findings[0]?.hint ?? '', /tailrace get failures bad/);
});

test('paused destinations are named, and neither they nor disabled ones count as failing', async () => {
  const others = [
    { id: 'p', enabled: true, paused: true },
    { id: 'off', enabled: false },
  ];
  const findings = await checkDestinations(apiWith({ good: [5, 5] }, others));
  assert.deepEqual(
    findings.map(({ level, says }) => [level, says]),
    [
      ['ok', 'paused, their deliveries wait: p'],
      ['ok', '1 destination, none fails'],
    ],
  );
});

describe('doctor looks', () => {
  const placesOf = (env: Readonly<Record<string, string>>, places: Places = {}) => {
    const { control, ingest, local, probes } = planOf({ env } as unknown as CommandContext, places);
    return { control, ingest, ports: [...local, ...probes].map(({ url }) => Number(new URL(url).port)) };
  };

  test('at the default ports only where nothing is named', () => {
    assert.deepEqual(placesOf({}), {
      control: 'http://localhost:8081',
      ingest: 'http://localhost:8080',
      ports: [9464, 9465, 9466, 9467],
    });
  });

  test('only at what is named', () => {
    const nothing = { control: undefined, ingest: undefined, ports: [] };
    assert.deepEqual(placesOf({ TAILRACE_URL: 'http://a:1/' }), { ...nothing, control: 'http://a:1' });
    assert.deepEqual(placesOf({ TAILRACE_INGEST_PORT: '18080' }), {
      ...nothing,
      ingest: 'http://localhost:18080',
    });
    assert.deepEqual(placesOf({ TAILRACE_METRICS_PORT: '19464', TAILRACE_CONTROL_PORT: '18081' }), {
      control: 'http://localhost:18081',
      ingest: undefined,
      ports: [19464, 19465, 19466, 19467],
    });
    assert.deepEqual(placesOf({}, { ingest: 'http://b:2' }), { ...nothing, ingest: 'http://b:2' });
    assert.deepEqual(placesOf({}, { probes: ['http://c:3'] }), { ...nothing, ports: [3] });
    assert.deepEqual(placesOf({ TAILRACE_DOCTOR_TARGETS: 'router=d:4' }), nothing);
  });
});
