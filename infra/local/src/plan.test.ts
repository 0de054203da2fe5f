import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { checkPorts, makePlan, type Plan } from './plan.ts';
import { freePort } from './ports.ts';

test('without TAILRACE_CONFIG the demo is among the services, and stops last', () => {
  assert.equal(makePlan({}).services.at(-1)?.name, 'demo');
  assert.ok(
    !makePlan({ TAILRACE_CONFIG: import.meta.filename }).services.some(({ name }) => name === 'demo'),
  );
});

test('all invalid settings are reported together', () => {
  const env = { TAILRACE_INGEST_PORT: '80800', TAILRACE_RETRY_SCHEDULE: 'soon' };
  assert.throws(() => makePlan(env), {
    code: 'invalid-settings',
    message: /^TAILRACE_INGEST_PORT: invalid value "80800".*\nTAILRACE_RETRY_SCHEDULE: invalid value "soon"/,
  });
  assert.throws(
    () => makePlan({ TAILRACE_CONFIG: '/nowhere.yaml' }),
    /the file \/nowhere\.yaml does not exist/,
  );
});

function planWith(ports: readonly number[]): Plan {
  const plan = makePlan({});
  const services = ports.map((port, index) => ({
    name: `service${index}`,
    command: ['node'] as const,
    env: {},
    ports: [{ port, setting: 'TAILRACE_INGEST_PORT' }],
  }));
  return { ...plan, services };
}

test('a port that is in use is reported with the setting that changes it', async () => {
  const port = await freePort();
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  await assert.rejects(checkPorts(planWith([port])), {
    code: 'local-start-failed',
    message: `Port ${port} of service0 is in use. Stop the process that uses it, or set TAILRACE_INGEST_PORT to another port.`,
  });
  server.close();
  await once(server, 'close');
  await checkPorts(planWith([port]));
});

test('one port for two services is reported', async () => {
  const port = await freePort();
  await assert.rejects(checkPorts(planWith([port, port])), /service0 and service1 have the same port/);
});
