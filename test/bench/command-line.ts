/** Shared parts of the benches' command lines. */
import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The run, or the text to print instead. */
export type CommandLine<Options> =
  | { readonly kind: 'run'; readonly options: Options }
  | { readonly kind: 'help'; readonly usage: string }
  | { readonly kind: 'mistake'; readonly message: string };

interface Known<Text extends string, Flag extends string> {
  readonly usage: string;
  /** The names of the options that have a value. */
  readonly texts: readonly Text[];
  /** The names of the others. */
  readonly flags?: readonly Flag[];
}

type Values<Text extends string, Flag extends string> = Readonly<
  Partial<Record<Text, string> & Record<Flag, boolean>>
>;

/** @param read returns what the values mean, and throws an error for a mistake in them */
export function readOptions<Text extends string, Flag extends string, Options>(
  args: readonly string[],
  { usage, texts, flags = [] }: Known<Text, Flag>,
  read: (values: Values<Text, Flag>) => Options,
): CommandLine<Options> {
  try {
    const options: ParseArgsConfig['options'] = { help: { type: 'boolean', short: 'h' } };
    for (const name of texts) options[name] = { type: 'string' };
    for (const name of flags) options[name] = { type: 'boolean' };
    const values = parseArgs({ args: [...args], options }).values as Values<Text, Flag | 'help'>;
    return values.help ? { kind: 'help', usage } : { kind: 'run', options: read(values) };
  } catch (error) {
    return { kind: 'mistake', message: `${(error as Error).message}\n\n${usage}` };
  }
}

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
