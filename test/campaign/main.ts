/** `npm run campaign`: faults of every kind under load, drawn by a seed, and a report. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describeMachine } from '../bench/figures/machine.ts';
import { whole } from '../bench/figures/table.ts';
import { obey, say } from '../bench/processes/bench.ts';
import { readCommandLine, type Options } from './options.ts';
import { renderPicture } from './picture.ts';
import { figuresOf, renderMarkdown, renderTable, sentenceOf, sumOf, type Figures } from './report.ts';
import { runCampaign, type Outcome } from './run.ts';
import { draw, drawApart, type Fault, type Plan } from './schedule.ts';
import { shrink } from './shrink.ts';
import { castOf } from './stage.ts';

const users = 150;

/** The run of one seed. */
interface Result extends Figures {
  readonly seed: number;
  readonly commit: string;
  readonly date: string;
  /** What was asked for, to continue only the same. */
  readonly plan: string;
}

await obey(readCommandLine(process.argv.slice(2)), async (options) => {
  const results: Result[] = [];
  for (const seed of options.seeds) {
    const plan = planOf(options, seed);
    for (const fault of plan.faults) say(show(fault));
    if (options.dry) continue;
    const file = path.join(options.out, `seed-${seed}.json`);
    const earlier = options.seeds.length > 1 ? await readResult(file, plan) : undefined;
    const result = earlier ?? (await run(plan, seed, options.out));
    results.push(result);
    process.stdout.write(`seed ${seed}: ${sentenceOf(result)}\n`);
    await writeReport(options, results);
    if (result.violations.length === 0) continue;
    process.exitCode = 1;
    if (options.shrink) await shrinkFaults(plan, result, options.out);
    return;
  }
});
// Connections of the Kafka client may still be closing.
process.exit();

function planOf(options: Options, seed: number): Plan {
  const { lengthMs, ratePerSecond, faultEveryMs: everyMs, kinds, keep, apart, before } = options;
  const cast = castOf(options.replicas, users);
  const drawn =
    apart === undefined
      ? draw({ seed, cast, lengthMs, everyMs, kinds })
      : drawApart({ seed, cast, kinds }, apart);
  const faults = drawn.filter(({ id }) => keep?.includes(id) ?? true);
  return { cast, faults, ratePerSecond, lengthMs, apart: apart !== undefined, before };
}

async function run(plan: Plan, seed: number, out: string): Promise<Result> {
  const { commit, date } = describeMachine();
  const outcome = await runCampaign(plan, say);
  const figures = figuresOf(outcome, plan);
  const result = { seed, commit, date, plan: JSON.stringify(plan), ...figures };
  await mkdir(out, { recursive: true });
  await writeFile(path.join(out, `seed-${seed}.json`), JSON.stringify(result));
  if (figures.violations.length > 0) await keepEvidence(path.join(out, `seed-${seed}`), outcome);
  process.stdout.write(`${renderTable(figures)}\n`);
  return result;
}

/** Of an earlier, interrupted campaign, where it did the same and broke no promise. */
async function readResult(file: string, plan: Plan): Promise<Result | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  const result = text === undefined ? undefined : (JSON.parse(text) as Result);
  return result?.plan === JSON.stringify(plan) && result.violations.length === 0 ? result : undefined;
}

async function writeReport({ out }: Options, results: readonly Result[]): Promise<void> {
  const seeds = results.map(({ seed }) => seed).join(', ');
  const commits = [...new Set(results.map(({ commit }) => commit))].join(', ');
  const all = sumOf(results);
  await writeFile(path.join(out, 'report.md'), renderMarkdown(`Seed ${seeds}, commit ${commits}`, all));
  const title = `${whole(all.faults)} faults and ${whole(all.events)} events, seed ${seeds}`;
  await writeFile(path.join(out, 'report.svg'), renderPicture(title, all));
  await writeFile(
    path.join(out, 'report.json'),
    `${JSON.stringify({ machine: describeMachine(), seeds, commits, ...all }, null, 2)}\n`,
  );
}

async function shrinkFaults(plan: Plan, { seed, violations }: Result, out: string): Promise<void> {
  const rules = new Set(violations.map(({ rule }) => rule));
  const rest = await shrink(plan.faults, async (faults) => {
    say(`again with the faults ${faults.map(({ id }) => id).join()}`);
    const again = await run({ ...plan, faults }, seed, out);
    return again.violations.some(({ rule }) => rules.has(rule));
  });
  say(`The failure stays with --seed ${seed} --keep ${rest.map(({ id }) => id).join()}`);
}

/** The logs of all services, and what happened to each event, for the search of a cause. */
async function keepEvidence(folder: string, { facts, logs }: Outcome): Promise<void> {
  await mkdir(folder, { recursive: true });
  const lines = (items: readonly unknown[]): string =>
    items.map((item) => `${JSON.stringify(item)}\n`).join('');
  for (const [name, log] of logs) await writeFile(path.join(folder, `${name}.log`), lines(log));
  const { entries, written, calls, decisions, episodes, changes, deletions, readings } = facts;
  const seen = entries.map(({ body, ...entry }) => ({ ...entry, bytes: body.length }));
  const all = { entries: seen, written, calls, decisions, episodes, changes, deletions, readings };
  for (const [name, list] of Object.entries(all))
    await writeFile(path.join(folder, `${name}.jsonl`), lines(list));
}

function show({ id, kind, target, atMs, durationMs }: Fault): string {
  const [at, lasts] = [atMs, durationMs].map((ms) => (ms / 1_000).toFixed(1));
  return `${id}: at ${at} s, ${kind}, ${target}${durationMs > 0 ? `, for ${lasts} s` : ''}`;
}
