/** A thread of transforms: runs those that it is sent, one after another, and answers each. */
import { parentPort } from 'node:worker_threads';
import { Machine } from './machine.ts';
import { ready, type TransformResult, type TransformRun } from './run.ts';

export type WorkerRun = Omit<TransformRun, 'owner' | 'source'>;

// A script sees times in UTC, wherever it runs: QuickJS asks JavaScript for local times.
for (const part of ['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes', 'Seconds'] as const) {
  Date.prototype[`get${part}`] = Date.prototype[`getUTC${part}`];
}
Date.prototype.getTimezoneOffset = () => 0;

let machine = Machine.create();

async function run(job: WorkerRun): Promise<TransformResult> {
  const current = await machine;
  const result = current.run(job);
  if (current.isBroken) machine = Machine.create();
  return result;
}

let last: Promise<unknown> = machine.then(() => parentPort?.postMessage(ready));
parentPort?.on('message', (job: WorkerRun) => {
  last = last.then(async () => parentPort?.postMessage(await run(job)));
});
