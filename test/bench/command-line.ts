/** Shared parts of the benches' command lines. */

/** The run, or the text to print instead. */
export type CommandLine<Options> =
  | { readonly kind: 'run'; readonly options: Options }
  | { readonly kind: 'help'; readonly usage: string }
  | { readonly kind: 'mistake'; readonly message: string };

/** The value of `--name`, a whole number such as 20_000. */
export function count(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = Number(text.replaceAll('_', ''));
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes a whole number above 0`);
  return value;
}

/** The value of `--name`, some of `all` with commas between them, in the order of `all`; all by default. */
export function someOf<Choice extends string>(
  all: readonly Choice[],
  name: string,
  text: string | undefined,
): readonly Choice[] {
  if (text === undefined) return all;
  const wanted = text.split(',').map((choice) => choice.trim());
  const unknown = wanted.filter((choice) => !all.some((known) => known === choice));
  if (unknown.length > 0) throw new Error(`--${name} takes some of ${all.join(',')}`);
  return all.filter((choice) => wanted.includes(choice));
}
