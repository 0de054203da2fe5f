/**
 * `node --test` with a broker: starts one for the whole run, because each file runs in a process of its own,
 * names it in KAFKA_BROKERS, and ends it afterwards. Arguments are passed on; so is the exit code.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startBroker } from '@tailrace/local';

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

const broker = await startBroker({
  env: process.env,
  quickStart: true,
  onProgress: (phrase, count) => {
    if (count === undefined) say(`Kafka for the tests: ${phrase}`);
  },
});
say(`Kafka for the tests: ${broker.kind} at ${broker.brokers.join(',')}`);

// The Kafka client computes timeouts below zero, which Node 24 warns of and takes as 1 ms, as was meant.
const flags = ['--disable-warning=TimeoutNegativeWarning'];
const tests = spawn(process.execPath, [...flags, '--test', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, KAFKA_BROKERS: broker.brokers.join(',') },
});
// A terminal sends Ctrl-C to the tests as well; what ends them ends the run.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => tests.kill('SIGTERM'));

const [code] = (await once(tests, 'exit')) as [number | null];
await broker.stop();
process.exitCode = code ?? 1;
