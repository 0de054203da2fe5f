/** `npm run campaign`: faults of every kind under load, drawn by a seed, and a report. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describeMachine } from '../bench/figures/machine.ts';
import { obey, say } from '../bench/processes/bench.ts';
import { readCommandLine, type Options } from './options.ts';
import { figuresOf, renderMarkdown, renderTable, type Figures } from './report.ts';
import { runCampaign, type Outcome } from './run.ts';
import { draw, type Fault } from './schedule.ts';
import { shrink } from './shrink.ts';
import { castOf } from './stage.ts';

const users = 40;

await obey(readCommandLine(process.argv.slice(2)), async (options) => {
  const cast = castOf(options.replicas, users);
  const { seed, lengthMs, faultEveryMs: everyMs, kinds, keep, events } = options;
  const faults = draw({ seed, cast, lengthMs, everyMs, kinds }).filter(
    ({ id }) => keep?.includes(id) ?? true,
  );
  for (const fault of faults) say(show(fault));
  if (options.dry) return;

  const run = async (part: readonly Fault[]): Promise<Figures> => {
    const plan = { cast, faults: part, events, lengthMs };
    const outcome = await runCampaign(plan, say);
    const figures = figuresOf(outcome);
    await write(options, figures);
    if (figures.violations.length > 0) await keepEvidence(options.out, outcome);
    process.stdout.write(`${renderTable(figures)}\n`);
    return figures;
  };
  const { violations } = await run(faults);
  if (violations.length === 0) return;
  process.exitCode = 1;
  if (!options.shrink) return;
  const rules = new Set(violations.map(({ rule }) => rule));
  const rest = await shrink(faults, async (part) => {
    say(`again with the faults ${part.map(({ id }) => id).join()}`);
    const again = await run(part);
    return again.violations.some(({ rule }) => rules.has(rule));
  });
  say(`The failure stays with --seed ${seed} --keep ${rest.map(({ id }) => id).join()}`);
});
// Connections of the Kafka client may still be closing.
process.exit();

async function write({ out, seed, lengthMs }: Options, figures: Figures): Promise<void> {
  const machine = describeMachine();
  const title = `Seed ${seed}, ${lengthMs / 60_000} minutes, commit ${machine.commit}`;
  await mkdir(out, { recursive: true });
  const all = { machine, seed, lengthMs, ...figures };
  await writeFile(path.join(out, 'report.json'), `${JSON.stringify(all, null, 2)}\n`);
  await writeFile(path.join(out, 'report.md'), renderMarkdown(title, figures));
}

/** The logs of all services, and what happened to each event, for the search of a cause. */
async function keepEvidence(out: string, { facts, logs }: Outcome): Promise<void> {
  const lines = (items: readonly unknown[]): string =>
    items.map((item) => `${JSON.stringify(item)}\n`).join('');
  for (const [name, log] of logs) await writeFile(path.join(out, `${name}.log`), lines(log));
  const { entries, written, calls, decisions, episodes, changes, deletions, readings } = facts;
  const seen = entries.map(({ body, ...entry }) => ({ ...entry, bytes: body.length }));
  const all = { entries: seen, written, calls, decisions, episodes, changes, deletions, readings };
  for (const [name, list] of Object.entries(all))
    await writeFile(path.join(out, `${name}.jsonl`), lines(list));
}

function show({ id, kind, target, atMs, durationMs }: Fault): string {
  const [at, lasts] = [atMs, durationMs].map((ms) => (ms / 1_000).toFixed(1));
  return `${id}: at ${at} s, ${kind}, ${target}${durationMs > 0 ? `, for ${lasts} s` : ''}`;
}
