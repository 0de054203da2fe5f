/**
 * `npm run bench:clients`: measures the CPU time of a track call in a web server, with Tailrace's client library and with
 * the public one. They take turns, each run in its own process; the Go benchmark follows if Go and it are available.
 * Options: `--calls N` (20,000), `--runs N` (5). It takes about two minutes and never fails for being slow.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs, promisify } from 'node:util';
import type { ClientCost } from './clients/client-process.ts';
import { count } from './command-line.ts';
import { describeMachine } from './figures/machine.ts';
import { spread } from './figures/statistics.ts';
import { hundredths, table, tenths, type Row } from './figures/table.ts';

const run = promisify(execFile);
const folder = path.join(import.meta.dirname, 'clients');
const goFolder = path.join(import.meta.dirname, 'analytics-go');

const { values } = parseArgs({ options: { calls: { type: 'string' }, runs: { type: 'string' } } });
const calls = count('calls', values.calls, 20_000);
const runs = count('runs', values.runs, 5);

const machine = describeMachine();
const costs: Readonly<Record<'ours' | 'public', ClientCost[]>> = { ours: [], public: [] };
const sink = spawn(process.execPath, [path.join(folder, 'sink-process.ts')], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const [endpoint] = (await once(createInterface(sink.stdout), 'line')) as [string];
for (let turn = 0; turn < runs; turn++) {
  for (const name of ['public', 'ours'] as const) costs[name].push(await measure(name));
}
sink.stdin.end();
await once(sink, 'exit');

const row = (title: string, part: keyof ClientCost): Row => {
  const [ours, other] = [costs.ours, costs.public].map((measured) =>
    spread(measured.map((cost) => cost[part])),
  );
  const show = ({ median, min, max }: { median: number; min: number; max: number }): string =>
    `${tenths(median)} (${tenths(min)}-${tenths(max)})`;
  return ours && other
    ? [title, show(ours), show(other), hundredths(ours.median / other.median)]
    : [title, '-', '-', '-'];
};
const { date, commit, node, cpu, cores, loadBefore } = machine;
print(
  `Client libraries, ${date}, commit ${commit}, Node ${node}, ${cpu}, ${cores} cores, load ${tenths(loadBefore)}`,
);
print(
  table(
    [
      `CPU µs a track call, median of ${runs} × ${calls} (min-max)`,
      'ours',
      '@segment/analytics-node',
      'ratio',
    ],
    [
      row('in the call', 'call'),
      row('until other requests continue', 'turn'),
      row('until it is sent', 'sent'),
    ],
  ),
);
await runGo();

async function measure(name: string): Promise<ClientCost> {
  const { stdout } = await run(process.execPath, [
    path.join(folder, 'client-process.ts'),
    name,
    endpoint,
    String(calls),
  ]);
  return JSON.parse(stdout) as ClientCost;
}

/** The counterpart in Go, which prints its own table. */
async function runGo(): Promise<void> {
  if (!existsSync(goFolder)) return;
  print('\nGo:');
  const go = spawn('go', ['test', '-run', '^$', '-bench', '.', '-benchmem', '.'], {
    cwd: goFolder,
    env: { ...process.env, GOTOOLCHAIN: 'local', GOWORK: 'off' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ended = await Promise.race([once(go, 'exit'), once(go, 'error')]);
  if (ended[0] instanceof Error) print('is not installed here; its benchmark was not run.');
  else if (ended[0] !== 0) process.exitCode = 1;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
