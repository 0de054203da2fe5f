/**
 * Settings are declared, not coded: a service lists what it reads, and gets a frozen, typed object or every
 * problem at once. A `Setting` reads one variable, or, as a group, several that belong together; a group is
 * a `Setting` again, so relations between variables are checked where the group is declared.
 */
import { nearestName, TailraceError } from '@tailrace/errors';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What reading gave: a value, or one sentence for each thing to fix. */
export type Reading<T> = { readonly value: T } | { readonly problems: readonly string[] };

export interface Setting<T> {
  /** The variables it reads. */
  readonly variables: readonly string[];
  read(env: Environment): Reading<T>;
}

export type ValueOf<S> = S extends Setting<infer T> ? T : never;
export type Shape = Readonly<Record<string, Setting<unknown>>>;
export type ValuesOf<S extends Shape> = { readonly [Name in keyof S]: ValueOf<S[Name]> };

/** One variable. Unset and empty are the same: compose files and charts write `NAME=` for "not set". */
export function variable<T, Fallback>(
  name: string,
  fallback: Fallback,
  options: {
    /** What may stand there, as a noun phrase: "a port from 0 to 65535". */
    readonly allowed: string;
    /** The value of `text`, or undefined where it is not allowed. */
    readonly parse: (text: string) => T | undefined;
    /** Keeps what was found out of the message. */
    readonly secret?: boolean;
  },
): Setting<T | Fallback> {
  return {
    variables: [name],
    read(env) {
      const text = env[name]?.trim();
      if (text === undefined || text === '') return { value: fallback };
      const value = options.parse(text);
      if (value !== undefined) return { value };
      const found = options.secret ? 'a value (not shown)' : JSON.stringify(text);
      return { problems: [`${name}: found ${found}, allowed is ${options.allowed}`] };
    },
  };
}

/** `setting`, of one variable, which must be set; `hint` is a sentence that says what to give. */
export function required<T>(setting: Setting<T>, hint: string): Setting<Exclude<T, undefined>> {
  return {
    variables: setting.variables,
    read(env) {
      const reading = setting.read(env);
      if ('problems' in reading) return reading;
      if (reading.value === undefined) return { problems: [`${setting.variables.join()}: not set. ${hint}`] };
      return { value: reading.value as Exclude<T, undefined> };
    },
  };
}

/**
 * Settings that belong together. `check` names what is wrong between them, one sentence each; it runs only
 * where each by itself is right.
 */
export function group<S extends Shape>(
  shape: S,
  check: (values: ValuesOf<S>) => readonly string[] = () => [],
): Setting<ValuesOf<S>> {
  return {
    variables: Object.values(shape).flatMap((setting) => setting.variables),
    read(env) {
      const problems: string[] = [];
      const entries = Object.entries(shape).map(([name, setting]) => {
        const reading = setting.read(env);
        if ('problems' in reading) problems.push(...reading.problems);
        return [name, 'value' in reading ? reading.value : undefined];
      });
      if (problems.length > 0) return { problems };
      const values = Object.freeze(Object.fromEntries(entries)) as ValuesOf<S>;
      const broken = check(values);
      return broken.length > 0 ? { problems: broken } : { value: values };
    },
  };
}

/** `setting` with its value turned into something else, or refused with problems. */
export function derived<T, U>(setting: Setting<T>, derive: (value: T) => Reading<U>): Setting<U> {
  return {
    variables: setting.variables,
    read(env) {
      const reading = setting.read(env);
      return 'problems' in reading ? reading : derive(reading.value);
    },
  };
}

/**
 * The settings of `shape`, frozen. Throws TailraceError('invalid-settings') with every problem, a line each.
 */
export function readSettings<S extends Shape>(
  env: Environment,
  shape: S,
  check?: (values: ValuesOf<S>) => readonly string[],
): ValuesOf<S> {
  const reading = group(shape, check).read(env);
  if ('value' in reading) return reading.value;
  const lines = [...reading.problems, ...doubtfulVariables(env, shape)];
  throw new TailraceError('invalid-settings', lines.join('\n'));
}

/**
 * One sentence for each variable that nothing reads and that is a slip of the hand away from one that is
 * read. Only near misses, because services share an environment and each reads but a part of it.
 */
export function doubtfulVariables(env: Environment, shape: Shape): string[] {
  const known = group(shape).variables;
  const prefixes = new Set(known.map((name) => `${name.split('_')[0] ?? ''}_`));
  return Object.keys(env)
    .filter((name) => !known.includes(name) && [...prefixes].some((prefix) => name.startsWith(prefix)))
    .flatMap((name) => {
      const meant = nearestName(name, known);
      return meant === undefined ? [] : [`${name}: nothing reads this variable; is ${meant} meant?`];
    });
}
