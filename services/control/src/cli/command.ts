/** What a command of the CLI is. Commands return what they found; how it is shown is not their business. */
import type { KafkaLog } from '@tailrace/kafka';
import type { Environment } from '@tailrace/service';

export const exitCodes = {
  done: 0,
  failed: 1,
  /** The command line or the settings are wrong: running it again unchanged is of no use. */
  usage: 2,
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
  readonly help: string;
}

export type OptionSpecs = Readonly<Record<string, SwitchSpec | TextSpec>>;

export type OptionValues<Specs extends OptionSpecs> = {
  readonly [Name in keyof Specs]: Specs[Name] extends SwitchSpec
    ? boolean
    : Specs[Name] extends { readonly required: true }
      ? string
      : string | undefined;
};

export interface CommandContext {
  readonly env: Environment;
  /** For what the Kafka client tells; shown with --verbose. */
  readonly log: KafkaLog;
}

export interface Outcome {
  readonly exitCode: ExitCode;
  /** For people, a line each. */
  readonly text: readonly string[];
  /** The same for programs, shown instead with `--output json`. */
  readonly json: unknown;
}

export interface Command {
  /** The words that call it, such as `topics apply`. */
  readonly name: string;
  readonly summary: string;
  /** Paragraphs for its own help. */
  readonly details: readonly string[];
  readonly options: OptionSpecs;
  run(
    options: Readonly<Record<string, string | boolean | undefined>>,
    context: CommandContext,
  ): Promise<Outcome>;
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
