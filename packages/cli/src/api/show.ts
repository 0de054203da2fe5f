/** Responses of the API as results of commands. */
import { exitCodes, type Outcome } from '../command.ts';
import { countOf, printable, table } from '../terminal/table.ts';
import { pause, type Terminal } from '../terminal/terminal.ts';
import type { Api, Page } from './client.ts';
import { pathOf } from './path.ts';

/** The columns of a list: the heading and the cell of an item. */
export type Columns<T> = Readonly<Record<string, (item: T) => string>>;

/** A list as a table. `noun` is the singular of its items. */
export function showPage<T>({ items, more }: Page<T>, noun: string, columns: Columns<T>): Outcome {
  const rows = items.map((item) => Object.values(columns).map((cell) => cell(item)));
  const count = countOf(items.length, noun);
  return {
    text: [
      ...(rows.length > 0 ? table([Object.keys(columns), ...rows]) : []),
      more ? `The first ${count}; --limit shows more.` : `${count}.`,
    ],
    json: { items, more },
  };
}

/** What was done, as a sentence or several, with the answer of the API. */
export function done(sentences: string | readonly string[], json: unknown): Outcome {
  return { text: [sentences].flat().map(printable), json: json ?? {} };
}

/** A value without a text of its own, as YAML. */
export async function showValue(value: unknown): Promise<Outcome> {
  const { yamlLines } = await import('../terminal/yaml.ts');
  return { text: yamlLines(value), json: value };
}

/** The items of one source, or of all sources if it is undefined; each item with the id of its source. */
export async function listBySource<T>(
  api: Api,
  source: string | undefined,
  fetchPage: (sourceId: string) => Promise<Page<T>>,
): Promise<Page<T & { readonly source: string }>> {
  const ids =
    source === undefined
      ? (await api.list<{ readonly id: string }>(pathOf('sources'), {}, Infinity)).items.map(({ id }) => id)
      : [source];
  const pages = [];
  for (const id of ids) {
    const { items, more } = await fetchPage(id);
    pages.push({ items: items.map((item) => ({ ...item, source: id })), more });
  }
  return { items: pages.flatMap(({ items }) => items), more: pages.some(({ more }) => more) };
}

export interface Work<State> {
  readonly isRunning: (state: State) => boolean;
  readonly progressOf: (state: State) => string;
  readonly load: (state: State) => Promise<State>;
  readonly outcomeOf: (state: State) => Outcome;
  /** The result where Ctrl-C ends the wait, for example `continuing`. */
  readonly interrupted: (state: State) => Outcome;
}

const pollEveryMs = 500;

/** Waits until work of the control service has ended, and shows its progress. */
export async function waitFor<State>(
  started: State,
  { isRunning, progressOf, load, outcomeOf, interrupted }: Work<State>,
  { progress }: Pick<Terminal, 'progress'>,
  signal: AbortSignal,
): Promise<Outcome> {
  let state = started;
  while (isRunning(state)) {
    progress(progressOf(state));
    if (!(await pause(pollEveryMs, signal))) return interrupted(state);
    state = await load(state);
  }
  return outcomeOf(state);
}

/** Ctrl-C has ended only the wait. `look` is the command that shows the progress of the work `what`. */
export function continuing(what: string, look: string, json: unknown): Outcome {
  const text = [printable(`Interrupted; the ${what} continues. To see the progress: tailrace ${look}`)];
  return { exitCode: exitCodes.interrupted, text, json };
}
