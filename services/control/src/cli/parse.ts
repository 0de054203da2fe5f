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
    commands.find((candidate) => positionalOf(candidate.options) && name.startsWith(`${candidate.name} `));
  const asksForHelp = given.includes('--help') || given.includes('-h');
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
  if (isGroup) {
    const next = names.filter((candidate) => candidate.startsWith(name)).join(', ');
    return new UsageError(`a command is missing; there are: ${next}`);
  }
  const called = names.find((candidate) => name.startsWith(`${candidate} `));
  if (called !== undefined) {
    return new UsageError(`${called} takes no argument, but was given ${name.slice(called.length + 1)}`);
  }
  const meant = nearestName(name, names);
  const hint = meant === undefined ? `there are: ${names.join(', ')}` : `is ${meant} meant?`;
  return new UsageError(`there is no command ${name}; ${hint}`);
}

function parseOptions(given: readonly string[], specs: OptionSpecs): Readonly<Record<string, OptionValue>> {
  const positional = positionalOf(specs);
  const named = Object.entries(specs).filter(([name]) => name !== positional);
  const options = Object.fromEntries(
    named.map(([name, spec]) => {
      const type = spec.type === 'boolean' ? ('boolean' as const) : ('string' as const);
      return [name, { type, ...('short' in spec && { short: spec.short }) }];
    }),
  );
  // Not strict, because its own messages neither suggest a name nor read well.
  const { tokens } = parseArgs({ args: [...given], options, strict: false, tokens: true });

  const values: Record<string, string | boolean | undefined> = Object.fromEntries(
    Object.entries(specs).map(([name, { type }]) => [name, type === 'boolean' ? false : undefined]),
  );
  for (const token of tokens) {
    if (token.kind === 'positional') {
      if (positional === undefined || values[positional] !== undefined) {
        throw new UsageError(`this argument is not understood: ${token.value}`);
      }
      values[positional] = token.value;
      continue;
    }
    if (token.kind === 'option-terminator') throw new UsageError('this argument is not understood: --');
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
    if (values[name] !== undefined) throw new UsageError(`${rawName} is given twice`);
    if ('choices' in spec && !spec.choices.includes(value)) {
      throw new UsageError(`${rawName} is ${spec.choices.join(' or ')}, not ${value}`);
    }
    values[name] = value;
  }
  return Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [name, finalValue(name, spec, values[name])]),
  );
}

function finalValue(name: string, spec: OptionSpec, value: string | boolean | undefined): OptionValue {
  switch (spec.type) {
    case 'boolean':
      return value;
    case 'integer': {
      const number = value === undefined ? spec.default : /^\d+$/.test(String(value)) ? Number(value) : NaN;
      if (number >= spec.min && number <= spec.max) return number;
      throw new UsageError(
        `--${name} is a whole number from ${spec.min} to ${spec.max}, not ${String(value)}`,
      );
    }
    case 'string':
      if (!spec.required || value !== undefined) return value;
      throw new UsageError(`${spec.positional ? '' : `--${name} `}${spec.placeholder} is missing`);
  }
}

/** The name of the option that is given without one. */
function positionalOf(specs: OptionSpecs): string | undefined {
  return Object.keys(specs).find((name) => {
    const spec = specs[name];
    return spec?.type === 'string' && spec.positional;
  });
}
