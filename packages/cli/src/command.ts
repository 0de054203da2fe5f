/** What a command of the CLI is. Commands return what they found; how it is shown is not their business. */
import type { Readable } from 'node:stream';
import type { KafkaLog } from '@tailrace/kafka';
import type { Environment } from '@tailrace/service';
import type { Terminal } from './terminal.ts';

export const exitCodes = {
  done: 0,
  failed: 1,
  /** The command line or the settings are wrong: running it again unchanged is of no use. */
  usage: 2,
  /** Ended by Ctrl-C before it was done, as shells count it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

interface SwitchSpec {
  readonly type: 'boolean';
  readonly short?: string;
  readonly help: string;
}

interface TextSpec {
  readonly type: 'string';
  readonly short?: string;
  /** Stands for the value in help: `FILE`. */
  readonly placeholder: string;
  /** Where given, nothing else is allowed. */
  readonly choices?: readonly string[];
  readonly required?: true;
  /** Given without a name, after the command; it stands in the command line as its placeholder. */
  readonly positional?: true;
  readonly help: string;
}

interface IntegerSpec {
  readonly type: 'integer';
  readonly placeholder: string;
  readonly min: number;
  readonly max: number;
  /** What it is where it is not given; nothing where absent. */
  readonly default?: number;
  readonly help: string;
}

/** Texts: an option that may be given several times, or all the arguments that follow. */
interface ListSpec {
  readonly type: 'list';
  readonly placeholder: string;
  readonly required?: true;
  readonly positional?: true;
  readonly help: string;
}

export type OptionSpec = SwitchSpec | TextSpec | IntegerSpec | ListSpec;
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;
export type OptionValue = string | number | boolean | readonly string[] | undefined;

export type OptionValues<Specs extends OptionSpecs> = {
  readonly [Name in keyof Specs]: Specs[Name] extends SwitchSpec
    ? boolean
    : Specs[Name] extends ListSpec
      ? readonly string[]
      : Specs[Name] extends IntegerSpec
        ? Specs[Name] extends { readonly default: number }
          ? number
          : number | undefined
        : Specs[Name] extends { readonly required: true }
          ? string
          : string | undefined;
};

export interface CommandContext {
  readonly env: Environment;
  /** For what the Kafka client tells; shown with --verbose. */
  readonly log: KafkaLog;
  readonly terminal: Terminal;
  /** Shows a part of the result at once: lines for people, or with `--output json` one line of JSON. */
  readonly show: (text: readonly string[], json: unknown) => void;
  /** A sentence for standard error, beside the result. */
  readonly warn: (sentence: string) => void;
  /** Reads standard input. */
  readonly input: () => Readable;
}

export interface Outcome {
  readonly exitCode: ExitCode;
  /** For people, a line each. */
  readonly text: readonly string[];
  /** Bytes that are asked for as they are, shown instead of `text`. */
  readonly raw?: Buffer;
  /** The same for programs, shown instead with `--output json`; nothing is, where it is undefined. */
  readonly json: unknown;
}

/** What a command works through, and so which settings it reads. */
export type Way = 'kafka' | 'api' | 'both' | 'neither';

export interface Command {
  /** The words that call it, such as `topics apply`. */
  readonly name: string;
  readonly summary: string;
  /** Paragraphs for its own help. */
  readonly details: readonly string[];
  /** Command lines for its help, without the name of the program. */
  readonly examples: readonly string[];
  readonly through: Way;
  readonly options: OptionSpecs;
  run(options: Readonly<Record<string, OptionValue>>, context: CommandContext): Promise<Outcome>;
}

export function defineCommand<const Specs extends OptionSpecs>(
  definition: Omit<Command, 'options' | 'run'> & {
    readonly options: Specs;
    readonly run: (options: OptionValues<Specs>, context: CommandContext) => Promise<Outcome>;
  },
): Command {
  const { run, ...rest } = definition;
  // `parseArguments` gives exactly what the specs say.
  return { ...rest, run: (options, context) => run(options as OptionValues<Specs>, context) };
}

/** The command line is wrong; `message` says what of it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
