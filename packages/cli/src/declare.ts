/**
 * Declares commands as data: the words that call one, its arguments and options, its help, and what it does. The files with
 * declarations import only this one and what is as light, so that every start is fast; what a command needs is loaded when it runs.
 */
import type { EventType } from '@tailrace/events';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { ApiRun } from './api/call.ts';
import { pathOf, type Query } from './api/path.ts';
import { showPage, type Columns } from './api/show.ts';
import type { Run } from './command.ts';
import type { EnvironmentOf } from './help.ts';

/** An option without its name. `Value` is what the command gets; it includes undefined where the option may be left out. */
export interface OptionOf<Value> {
  readonly named: (flag: string) => Option;
  /** Has the type alone. */
  readonly value?: () => Value;
}

/** By the names of the values: `rateLimit` is the option `--rate-limit`. */
type OptionsOf<O> = Readonly<Record<keyof O, OptionOf<unknown>>>;
export type Options = OptionsOf<Record<string, unknown>>;

/** What each argument is, by its form: `<source>`, `[type]` or `<users...>`. */
type ArgumentsOf<A> = Readonly<
  Record<keyof A, string | { readonly about: string; readonly choices: readonly string[] }>
>;
type Arguments = ArgumentsOf<Record<string, unknown>>;

/** The arguments and options of a command line by their names in camel case. */
export type ValuesOf<A, O> = {
  readonly [Form in keyof A as NameOf<Form>]: Form extends `<${string}...>` ? readonly string[] : string;
} & {
  readonly [Form in keyof A as Form extends `[${infer Name}]` ? Name : never]?: string;
} & {
  readonly [Name in keyof O as undefined extends ValueOf<O[Name]> ? never : Name]: ValueOf<O[Name]>;
} & {
  readonly [Name in keyof O as undefined extends ValueOf<O[Name]> ? Name : never]?: Exclude<
    ValueOf<O[Name]>,
    undefined
  >;
};
type NameOf<Form> = Form extends `<${infer Name}...>`
  ? Name
  : Form extends `<${infer Name}>`
    ? Camel<Name>
    : never;
type Camel<Name> = Name extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Rest>}` : Name;
type ValueOf<O> = O extends OptionOf<infer Value> ? Value : never;

interface Description<A, O> {
  /** The words that call it, such as `create token`. */
  readonly words: string;
  readonly summary: string;
  /** Default: the summary as a sentence. */
  readonly description?: string;
  readonly arguments?: A;
  readonly options?: O;
  /** Command lines; the name of the program is added. */
  readonly examples: readonly string[];
}

/** A command. `run` gets the values of its arguments and options. */
export interface Declared extends Required<Description<Arguments, Options>> {
  readonly reads: readonly EnvironmentOf[];
  readonly run: Run<never>;
}

export function command<A extends ArgumentsOf<A> = object, O extends OptionsOf<O> = object>(
  declared: Description<A, O> & Pick<Declared, 'reads'> & { readonly run: Run<ValuesOf<A, O>> },
): Declared {
  return { description: '', arguments: {}, options: {}, ...declared };
}

/** A command that needs the management API alone. With `confirm` it has the option `--yes`. */
export function apiCommand<A extends ArgumentsOf<A> = object, O extends OptionsOf<O> = object>({
  request,
  confirm,
  ...declared
}: Description<A, O> & ApiRun<ValuesOf<A, O>>): Declared {
  const { options = {} as O } = declared;
  return command<A, O>({
    ...declared,
    options: confirm ? { ...options, yes: flag('do not ask for confirmation') } : options,
    reads: ['api'],
    async run(values, context) {
      const { callApi } = await import('./api/call.ts');
      return callApi({ request, ...(confirm && { confirm }) }, values, context);
    },
  });
}

/** A command that lists items of the management API as a table. Its options but `--limit` are the query. */
export function listCommand<O extends OptionsOf<O> = object>({
  path,
  noun,
  columns,
  queryOf,
  ...declared
}: Description<object, O> & {
  /** Below `/v1/`. */
  readonly path: string;
  /** The singular of its items. */
  readonly noun: string;
  readonly columns: Columns<never>;
  readonly queryOf?: (filter: ValuesOf<object, O>) => Query;
}): Declared {
  const { options, ...rest } = declared;
  return apiCommand<object, Options>({
    ...rest,
    options: { ...options, ...limit() },
    async request({ limit, ...filter }, { api }) {
      const query = queryOf ? queryOf(filter as ValuesOf<object, O>) : (filter as Query);
      return showPage(await api.list<never>(pathOf(path), query, limit as number), noun, columns);
    },
  });
}

/** An option without a value. */
export function flag(description: string): OptionOf<true | undefined> {
  return { named: (name) => new Option(name, description) };
}

/** @param form of the value, such as `<id>` */
export function text(form: string, description: string): OptionOf<string | undefined> {
  return { named: (name) => new Option(`${name} ${form}`, description) };
}

/** An option whose value may be left out; it is then true. */
export function optional(form: string, description: string): OptionOf<string | true | undefined> {
  return text(form, description);
}

/** A file name, with `-f` for short. */
export function file(description: string): OptionOf<string | undefined> {
  return { named: (name) => new Option(`-f, ${name} <file>`, description) };
}

/** A whole number. */
export function integer(description: string, min: number, max: number): OptionOf<number | undefined> {
  const parse = (typed: string): number => {
    const number = /^\d+$/.test(typed) ? Number(typed) : NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
  return { named: (name) => new Option(`${name} <n>`, description).argParser(parse) };
}

/** One of a closed list of values. */
export function choice<const Value extends string>(
  form: string,
  description: string,
  choices: readonly Value[],
): OptionOf<Value | undefined> {
  return { named: (name) => new Option(`${name} ${form}`, description).choices(choices) };
}

/** An option that may be given several times. */
export function repeatable(form: string, description: string): OptionOf<readonly string[] | undefined> {
  const collect = (value: string, values: readonly string[] = []): readonly string[] => [...values, value];
  return {
    named: (name) => new Option(`${name} ${form}`, `${description} (repeatable)`).argParser(collect),
  };
}

export function required<Value>({ named }: OptionOf<Value>): OptionOf<Exclude<Value, undefined>> {
  return { named: (name) => named(name).makeOptionMandatory() };
}

export function withDefault<const Value extends string | number>(
  { named }: OptionOf<Value | undefined>,
  value: Value,
): OptionOf<Value> {
  return { named: (name) => named(name).default(value) };
}

export function limit(max = 100_000) {
  return { limit: withDefault(integer('list at most this many', 1, max), 50) };
}

/** `only` is what the times choose, such as `dead letters written`. */
export function period(only = '') {
  const what = ['only', only].join(' ').trim();
  return {
    since: text('<time>', `${what} from this time on`),
    until: text('<time>', `${what} before this time`),
  };
}

/** As in @tailrace/events, which is not imported because that would load its validators at every start. */
export const eventTypes = [
  'track',
  'identify',
  'page',
  'screen',
  'group',
  'alias',
  'delete',
] as const satisfies readonly EventType[];

/** Whether the command is only the first word of others: `get`, and not `replay`. */
export function isGroup(command: Command): boolean {
  return command.commands.length > 0 && (command.parent === null || command.options.length === 0);
}

/** All commands that do something, with the words that call them. */
export function leafCommands(command: Command, path = ''): { path: string; command: Command }[] {
  const below = command.commands.flatMap((subcommand) =>
    leafCommands(subcommand, path === '' ? subcommand.name() : `${path} ${subcommand.name()}`),
  );
  return isGroup(command) ? below : [{ path, command }, ...below];
}
