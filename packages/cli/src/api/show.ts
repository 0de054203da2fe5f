/** Responses of the API as results of commands. */
import type { Outcome } from '../command.ts';
import { countOf, table } from '../terminal/table.ts';
import { yamlLines } from '../terminal/yaml.ts';
import { pathOf, type Api, type Page } from './client.ts';

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

/** A value without a text of its own, as YAML. */
export function showValue(value: unknown): Outcome {
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
