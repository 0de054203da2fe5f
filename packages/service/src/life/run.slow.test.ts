/** Signals and exit codes of a service as a process. The life of a service without its process is in service.test.ts. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { test } from 'node:test';

interface LogLine {
  readonly msg: string;
  readonly level: string;
  readonly [field: string]: unknown;
}

/** A running service: `start` is the source text of the function that `runService` is given. */
function startService(start: string, env: Record<string, string> = {}, options: { ipc?: boolean } = {}) {
  const source = `
    import { port, runService, serviceSettings } from '@tailrace/service';
    import { TailraceError } from '@tailrace/errors';
    import Type from 'typebox';
    const size = port({ env: 'TAILRACE_SIZE', description: 'An example.', default: 1 });
    const settings = Type.Object({ ...serviceSettings({ metricsPort: 0 }), size });
    await runService({ name: 'trial', settings, open: ${start} }, process.env);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    cwd: import.meta.dirname,
    env,
    stdio: ['ignore', 'pipe', 'pipe', options.ipc ? 'ipc' : 'ignore'],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const lines: LogLine[] = [];
  const arrivals: (() => void)[] = [];
  const arrived = (): void => {
    for (const notify of arrivals.splice(0)) notify();
  };
  const output = createInterface(child.stdout);
  output.on('line', (line) => {
    lines.push(JSON.parse(line) as LogLine);
    arrived();
  });
  // Not `close` of the child, which does not come where the IPC channel was closed by hand.
  const exited = Promise.all([once(child, 'exit'), once(output, 'close')]).then(
    ([[code]]) => code as number | null,
  );
  void exited.then(arrived);
  return {
    child,
    lines,
    /** The first line that `msg` matches, as soon as there is one. */
    async line(msg: string | RegExp): Promise<LogLine> {
      for (;;) {
        const found = lines.find((line) => (typeof msg === 'string' ? line.msg === msg : msg.test(line.msg)));
        if (found) return found;
        const over = child.exitCode ?? child.signalCode;
        if (over !== null && child.stdout.readableEnded) {
          assert.fail(`ended (${over}) without the line ${String(msg)}: ${errors}${JSON.stringify(lines)}`);
        }
        await new Promise<void>((resolve) => arrivals.push(resolve));
      }
    },
    async probe(path: string): Promise<{ status: number; body: string }> {
      const { metricsPort } = (await this.line('starting')) as LogLine & { metricsPort: number };
      const response = await fetch(`http://127.0.0.1:${metricsPort}${path}`);
      return { status: response.status, body: await response.text() };
    },
    async exit(): Promise<{ code: number | null; errors: string }> {
      return { code: await exited, errors };
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
    },
  };
}

test('a service says ready once it works, and on SIGTERM closes in reverse order and exits with 0', async () => {
  await using service = startService(`async (context) => {
    const { log } = context;
    context.onClose('first', () => log.info('closed first'));
    context.onClose('second', () => new Promise((done) => { process.once('SIGUSR2', done); log.info('closing slowly'); log.flush(); }));
    return { url: 'http://here' };
  }`);
  const ready = await service.line('ready');
  assert.equal(ready['url'], 'http://here');
  assert.equal((await service.probe('/readyz')).status, 200);
  service.child.kill('SIGTERM');
  await service.line('closing slowly');
  // More signals change nothing.
  service.child.kill('SIGINT');
  service.child.kill('SIGTERM');
  service.child.kill('SIGUSR2');
  assert.equal((await service.exit()).code, 0);
  assert.deepEqual(
    service.lines.map(({ msg }) => msg),
    ['starting', 'ready', 'stopping', 'closing slowly', 'closed first', 'stopped'],
  );
});

test('Ctrl-C does not wait for the delay, and a misspelled variable is logged as a warning', async () => {
  await using service = startService('async () => undefined', {
    TAILRACE_SHUTDOWN_DELAY: '1h',
    TAILRACE_SIEZ: '5',
  });
  await service.line('ready');
  service.child.kill('SIGINT');
  assert.equal((await service.exit()).code, 0);
  const warning = service.lines.find(({ level }) => level === 'warn');
  assert.equal(warning?.msg, 'TAILRACE_SIEZ: unknown variable; did you mean TAILRACE_SIZE?');
});

test('SIGTERM begins the delay', async () => {
  await using service = startService('async () => undefined', { TAILRACE_SHUTDOWN_DELAY: '1h' });
  await service.line('ready');
  service.child.kill('SIGTERM');
  const line = await service.line('serving until load balancers have noticed');
  assert.equal(line['delayMs'], 3_600_000);
});

test('a service ends with the parent that holds its IPC channel', async () => {
  await using service = startService('async () => undefined', {}, { ipc: true });
  await service.line('ready');
  service.child.disconnect();
  assert.equal((await service.exit()).code, 0);
  assert.equal((await service.line('stopping'))['reason'], 'the parent process ended');
});

test('a component that exceeds the grace period is logged, and the exit code is not 0', async () => {
  await using service = startService(
    `async (context) => {
      context.onClose('kafka', () => undefined);
      context.onClose('http server', () => new Promise(() => undefined));
    }`,
    { TAILRACE_SHUTDOWN_GRACE: '50ms' },
  );
  await service.line('ready');
  service.child.kill('SIGTERM');
  assert.equal((await service.exit()).code, 1);
  const line = await service.line('http server did not stop in time');
  assert.deepEqual(line['unclosed'], ['kafka', 'probe server']);
});

test('all invalid settings are printed in plain text, with a separate exit code', async () => {
  await using service = startService('async () => undefined', { LOG_LEVEL: 'loud', TAILRACE_SIZE: 'x' });
  const { code, errors } = await service.exit();
  assert.equal(code, 78);
  assert.match(
    errors,
    /^Invalid settings:\n {2}LOG_LEVEL: invalid value "loud".*\n {2}TAILRACE_SIZE: invalid value "x".*\n$/,
  );
  assert.deepEqual(service.lines, []);
});

test('a port in use is printed with the variable to change', async () => {
  const taken = createServer().listen(0);
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  await using service = startService('async () => undefined', { TAILRACE_METRICS_PORT: String(port) });
  const { code, errors } = await service.exit();
  taken.close();
  assert.equal(code, 78);
  assert.match(errors, new RegExp(`TAILRACE_METRICS_PORT: port ${port} is in use by another process`));
});

for (const [title, start] of [
  ['a start that fails', `async () => { throw new TypeError('a defect'); }`],
  ['an unexpected exception', `async () => { setImmediate(() => { throw new TypeError('a defect'); }); }`],
  ['an unhandled rejection', `async () => { void Promise.reject(new TypeError('a defect')); }`],
] as const) {
  test(`${title} is logged as fatal, nothing of the log is lost, and the exit code is 1`, async () => {
    await using service = startService(start);
    assert.equal((await service.exit()).code, 1);
    const last = service.lines.at(-1);
    assert.equal(last?.level, 'fatal');
    assert.match(JSON.stringify(last), /TypeError: a defect/);
  });
}

test('a service whose log cannot be written any more ends on SIGTERM', async () => {
  await using service = startService(`async () => {
    const { closeSync, openSync } = process.getBuiltinModule('node:fs');
    closeSync(1);
    // It takes the place of standard output, and nothing can be written to it.
    openSync('/dev/null', 'r');
    setImmediate(() => process.kill(process.pid, 'SIGTERM'));
  }`);
  assert.equal((await service.exit()).code, 0);
});

test('no line is lost when much is logged right before the exit', async () => {
  await using service = startService(`async ({ log }) => {
    for (let i = 0; i < 20_000; i++) log.info({ i }, 'one of many');
    process.kill(process.pid, 'SIGTERM');
  }`);
  assert.equal((await service.exit()).code, 0);
  const numbers = service.lines.filter(({ msg }) => msg === 'one of many').map((line) => line['i']);
  assert.deepEqual(
    numbers,
    Array.from({ length: 20_000 }, (_, i) => i),
  );
  assert.equal(service.lines.at(-1)?.msg, 'stopped');
});
