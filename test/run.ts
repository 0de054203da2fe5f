/**
 * `node --test` with a broker: starts one for the whole run, because each file runs in a process of its own,
 * names it in KAFKA_BROKERS, and ends it afterwards. Arguments are passed on; so is the exit code.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startBroker } from '@tailrace/local';
import { testEnvironment } from './support/caches.ts';

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

const interrupted = new AbortController();
for (const [signal, exitCode] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
  process.on(signal, () => {
    process.exitCode = exitCode;
    interrupted.abort(new Error(signal));
  });
}

try {
  await using broker = await startBroker({
    env: process.env,
    quickStart: true,
    signal: interrupted.signal,
    onProgress: (phrase, count) => {
      if (count === undefined) say(`Kafka for the tests: ${phrase}`);
    },
  });
  const brokers = broker.brokers.join(',');
  say(`Kafka for the tests: ${broker.kind} at ${brokers}`);

  // The Kafka client computes timeouts below zero, which Node 24 warns of and takes as 1 ms, as was meant.
  const flags = ['--disable-warning=TimeoutNegativeWarning'];
  const tests = spawn(process.execPath, [...flags, '--test', ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...testEnvironment(process.env), KAFKA_BROKERS: brokers },
  });
  interrupted.signal.addEventListener('abort', () => tests.kill('SIGTERM'));
  const [code] = (await once(tests, 'exit')) as [number | null];
  process.exitCode ??= code ?? 1;
} catch (error) {
  process.exitCode ??= 1;
  if (!interrupted.signal.aborted) say((error as Error).message);
}
