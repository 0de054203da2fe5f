/** The command line, read strictly: whatever is not understood is told, with what may have been meant. */
import { parseArgs } from 'node:util';
import { nearestName } from '@tailrace/errors';
import { UsageError, type Command, type OptionSpec, type OptionSpecs, type OptionValue } from './command.ts';

export const commonOptions = {
  output: {
    type: 'string',
    placeholder: 'FORMAT',
    choices: ['text', 'json'],
    help: 'text (the default) or json',
  },
  verbose: { type: 'boolean', help: 'also tell what the Kafka client does, on standard error' },
  help: { type: 'boolean', short: 'h', help: 'show this help' },
} as const satisfies OptionSpecs;

export type Invocation =
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly options: Readonly<Record<string, OptionValue>>;
      readonly asJson: boolean;
      readonly verbose: boolean;
    }
  /** `topic` is the beginning of commands' names; empty for all. */
  | { readonly kind: 'help'; readonly topic: string }
  | { readonly kind: 'version' };

/** @throws UsageError */
export function parseArguments(argv: readonly string[], commands: readonly Command[]): Invocation {
  const firstOption = argv.findIndex((word) => word.startsWith('-'));
  const words = firstOption === -1 ? argv : argv.slice(0, firstOption);
  const given = argv.slice(words.length);

  const name = words.join(' ');
  const command =
    commands.find((candidate) => candidate.name === name) ??
    commands.find(
      (candidate) => positionalsOf(candidate.options).length > 0 && name.startsWith(`${candidate.name} `),
    );
  const end = given.indexOf('--');
  const asksForHelp = given.slice(0, end === -1 ? undefined : end).some((word) => /^(--help|-h)$/.test(word));
  const isGroup = name === '' || commands.some((candidate) => candidate.name.startsWith(`${name} `));
  if (asksForHelp && (command || isGroup)) return { kind: 'help', topic: command?.name ?? name };
  if (name === '' && given.length === 1 && given[0] === '--version') return { kind: 'version' };
  if (!command) throw unknownCommand(name, isGroup, given, commands);

  const positionals = words.slice(command.name.split(' ').length);
  const options = parseOptions([...positionals, ...given], { ...command.options, ...commonOptions });
  const { output, verbose } = options;
  return { kind: 'run', command, options, asJson: output === 'json', verbose: verbose === true };
}

function unknownCommand(
  name: string,
  isGroup: boolean,
  given: readonly string[],
  commands: readonly Command[],
): UsageError {
  const names = commands.map((command) => command.name);
  if (isGroup && given[0] !== undefined) return new UsageError(`options come after a command: ${given[0]}`);
  if (name === '') return new UsageError('a command is missing');
  if (isGroup) return new UsageError(`a command is missing; there are: ${groupOf(name, names).join(', ')}`);
  const called = names.find((candidate) => name.startsWith(`${candidate} `));
  if (called !== undefined) {
    return new UsageError(`${called} takes no argument, but was given ${name.slice(called.length + 1)}`);
  }
  return new UsageError(`there is no command ${name}${hintAt(name, names)}`);
}

/** What may have been meant, arguments that follow aside; else what there is in the group. */
function hintAt(name: string, names: readonly string[]): string {
  const words = name.split(' ');
  for (const length of [words.length, 2, 1]) {
    const called = words.slice(0, length).join(' ');
    const meant = nearestName(
      called,
      names.filter((candidate) => candidate.split(' ').length === length),
    );
    if (meant !== undefined) return `; is ${meant} meant?`;
  }
  const group = groupOf(words[0] ?? '', names);
  return group.length === 0 ? '' : `; there are: ${group.join(', ')}`;
}

function groupOf(name: string, names: readonly string[]): string[] {
  return names.filter((candidate) => candidate.startsWith(`${name} `));
}

function parseOptions(given: readonly string[], specs: OptionSpecs): Readonly<Record<string, OptionValue>> {
  const positionals = positionalsOf(specs);
  const named = Object.entries(specs).filter(([name]) => !positionals.includes(name));
  const options = Object.fromEntries(
    named.map(([name, spec]) => {
      const type = spec.type === 'boolean' ? ('boolean' as const) : ('string' as const);
      return [name, { type, ...('short' in spec && { short: spec.short }) }];
    }),
  );
  // Not strict, because its own messages neither suggest a name nor read well.
  const { tokens } = parseArgs({ args: [...given], options, strict: false, tokens: true });

  const values: Record<string, string | boolean | string[] | undefined> = Object.fromEntries(
    Object.entries(specs).map(([name, { type }]) => [name, initialValue(type)]),
  );
  /** Adds to a list, and sets what is set once; false where that was set before. */
  const take = (name: string, value: string): boolean => {
    const present = values[name];
    if (present !== undefined && !Array.isArray(present)) return false;
    if (present) present.push(value);
    else values[name] = value;
    return true;
  };
  for (const token of tokens) {
    if (token.kind === 'positional') {
      const { value } = token;
      const name = positionals.find((candidate) => take(candidate, value));
      if (name === undefined) throw new UsageError(`this argument is not understood: ${value}`);
      checkChoice(specs[name], value);
      continue;
    }
    if (token.kind === 'option-terminator') {
      if (positionals.length > 0) continue;
      throw new UsageError('this argument is not understood: --');
    }
    const { name, rawName, value, inlineValue } = token;
    const spec = Object.hasOwn(options, name) ? specs[name] : undefined;
    if (!spec) {
      const meant = nearestName(name, Object.keys(options));
      throw new UsageError(
        `there is no option ${rawName}${meant === undefined ? '' : `; is --${meant} meant?`}`,
      );
    }
    if (spec.type === 'boolean') {
      if (value !== undefined) throw new UsageError(`${rawName} takes no value`);
      values[name] = true;
      continue;
    }
    const isOption = value !== undefined && !inlineValue && /^-./.test(value);
    if (value === undefined || value === '' || isOption) {
      throw new UsageError(`${rawName} needs a value: ${rawName} ${spec.placeholder}`);
    }
    checkChoice(spec, value, rawName);
    if (!take(name, value)) throw new UsageError(`${rawName} is given twice`);
  }
  return Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [name, finalValue(name, spec, values[name])]),
  );
}

function initialValue(type: OptionSpec['type']): false | string[] | undefined {
  if (type === 'boolean') return false;
  return type === 'list' ? [] : undefined;
}

function checkChoice(spec: OptionSpec | undefined, value: string, name?: string): void {
  if (spec?.type !== 'string' || !spec.choices || spec.choices.includes(value)) return;
  throw new UsageError(`${name ?? spec.placeholder} is ${spec.choices.join(' or ')}, not ${value}`);
}

function finalValue(
  name: string,
  spec: OptionSpec,
  value: string | boolean | readonly string[] | undefined,
): OptionValue {
  switch (spec.type) {
    case 'boolean':
      return value;
    case 'integer': {
      if (value === undefined) return spec.default;
      const number = /^\d+$/.test(String(value)) ? Number(value) : NaN;
      if (number >= spec.min && number <= spec.max) return number;
      throw new UsageError(
        `--${name} is a whole number from ${spec.min} to ${spec.max}, not ${String(value)}`,
      );
    }
    case 'string':
    case 'list':
      if (!spec.required || (Array.isArray(value) ? value.length > 0 : value !== undefined)) return value;
      throw new UsageError(`${spec.positional ? '' : `--${name} `}${spec.placeholder} is missing`);
  }
}

/** The options that are given without a name, in their order. */
export function positionalsOf(specs: OptionSpecs): string[] {
  return Object.keys(specs).filter((name) => {
    const spec = specs[name];
    return (spec?.type === 'string' || spec?.type === 'list') && spec.positional;
  });
}
