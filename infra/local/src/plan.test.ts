import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import Type from 'typebox';
import { brokerEnvironment, checkPorts, makePlan, serviceEnvironment, type Plan } from './plan.ts';
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

test('links in notifications go to the console on this machine', () => {
  const publicUrls = (env: Readonly<Record<string, string>>) =>
    makePlan(env).services.map((service) => serviceEnvironment(service, env)['TAILRACE_CONTROL_PUBLIC_URL']);
  const ofControl = (url: string) => [undefined, undefined, undefined, url, undefined];
  assert.deepEqual(publicUrls({ TAILRACE_CONTROL_PORT: '18081' }), ofControl('http://localhost:18081'));
  assert.deepEqual(
    publicUrls({ TAILRACE_CONTROL_PUBLIC_URL: 'https://tailrace.example.com' }),
    ofControl('https://tailrace.example.com'),
  );
});

test('each process gets the variables that it reads, and no secret of another one', () => {
  const env = {
    TAILRACE_INGEST_PORT: '18080',
    TAILRACE_SECRET_KEY: 'ab'.repeat(32),
    TAILRACE_API_TOKEN_FILE: '/token',
    KAFKA_SASL_PASSWORD: 'hunter2',
    TAILRACE_DEDUPE_IDS: '5',
    LOG_LEVEL: 'debug',
    PATH: '/bin',
    NODE_USE_ENV_PROXY: '1',
    HTTPS_PROXY: 'http://proxy:3128',
    CRM_PASSWORD: 'hunter2',
  };
  const { services } = makePlan(env);
  const got = services.map((service) => {
    const variables = serviceEnvironment(service, env);
    return [service.name, ...Object.keys(env).filter((name) => name in variables)].join(' ');
  });
  assert.deepEqual(got, [
    'ingest TAILRACE_INGEST_PORT KAFKA_SASL_PASSWORD LOG_LEVEL PATH NODE_USE_ENV_PROXY HTTPS_PROXY',
    'router KAFKA_SASL_PASSWORD TAILRACE_DEDUPE_IDS LOG_LEVEL PATH NODE_USE_ENV_PROXY HTTPS_PROXY',
    'delivery TAILRACE_SECRET_KEY KAFKA_SASL_PASSWORD LOG_LEVEL PATH NODE_USE_ENV_PROXY HTTPS_PROXY',
    'control TAILRACE_INGEST_PORT TAILRACE_SECRET_KEY TAILRACE_API_TOKEN_FILE KAFKA_SASL_PASSWORD LOG_LEVEL PATH NODE_USE_ENV_PROXY HTTPS_PROXY',
    'demo PATH NODE_USE_ENV_PROXY HTTPS_PROXY',
  ]);
  const broker = brokerEnvironment({ ...env, JAVA_HOME: '/java' });
  assert.deepEqual(Object.keys(broker).sort(), [
    'CRM_PASSWORD',
    'HTTPS_PROXY',
    'JAVA_HOME',
    'LOG_LEVEL',
    'NODE_USE_ENV_PROXY',
    'PATH',
    'TAILRACE_DEDUPE_IDS',
    'TAILRACE_INGEST_PORT',
  ]);
});

test('services are on loopback, unless TAILRACE_HOST is another address', () => {
  const hosts = (env: Readonly<Record<string, string>>) =>
    makePlan(env).services.map(({ name, env: { TAILRACE_HOST } }) => [name, TAILRACE_HOST]);
  const names = ['ingest', 'router', 'delivery', 'control'];
  assert.deepEqual(hosts({}), [...names.map((name) => [name, '127.0.0.1']), ['demo', undefined]]);
  assert.deepEqual(hosts({ TAILRACE_HOST: '::' }), [
    ...names.map((name) => [name, '::']),
    ['demo', undefined],
  ]);
});

test('a misspelled variable of any service is reported, because no service gets it', () => {
  assert.deepEqual(makePlan({ TAILRACE_DELIVERY_CONCURENCY: '5', TAILRACE_CONFIGS: '' }).warnings, [
    'TAILRACE_DELIVERY_CONCURENCY: unknown variable; did you mean TAILRACE_DELIVERY_CONCURRENCY?',
    'TAILRACE_CONFIGS: unknown variable; did you mean TAILRACE_CONFIG?',
  ]);
});

function planWith(ports: readonly number[]): Plan {
  const plan = makePlan({});
  const services = ports.map((port, index) => ({
    name: `service${index}`,
    command: ['node'] as const,
    settings: Type.Object({}),
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
