/** Runs a command line. Results go to standard output, everything else to standard error. */
import { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { isTailraceError } from '@tailrace/errors';
import type { connectKafka, KafkaLog } from '@tailrace/kafka';
import type { Environment } from '@tailrace/service';
import { CommanderError, type Command } from 'commander';
import { exitCodes, UsageError, type CommandContext, type ExitCode, type Run } from './command.ts';
import { buildProgram } from './program.ts';
import { jsonText } from './terminal/table.ts';
import { unattended, type Terminal } from './terminal/terminal.ts';

export interface CliContext {
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  /** Writes bytes to standard output unchanged. */
  readonly outBytes?: (bytes: Buffer) => void;
  /** Opens standard input; empty by default. */
  readonly input?: () => Readable;
  /** By default there is no user to ask. */
  readonly terminal?: Terminal;
  /** Columns of the terminal, for help. */
  readonly width?: number | undefined;
  /** Whether standard output shows colours. */
  readonly colours?: boolean;
  /** Opens the connection of a command that uses Kafka directly. Default: `connectKafka`. */
  readonly connect?: typeof connectKafka | undefined;
}

export async function runCli(context: CliContext): Promise<ExitCode> {
  const { argv, out, err, width = 100 } = context;
  let exitCode: ExitCode = exitCodes.done;
  const program = buildProgram(
    (run) =>
      async (...given) => {
        exitCode = await runCommand(given.at(-1) as Command, run, context);
      },
    {
      writeOut: (text) => out(text.trimEnd()),
      writeErr: (text) => err(text.trimEnd()),
      outputError: (text, write) => write(text.replace(/^error: /, 'tailrace: ')),
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
    },
    argv,
  );
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
}

async function runCommand(command: Command, run: Run<never>, cli: CliContext): Promise<ExitCode> {
  const { out, err, outBytes, terminal = unattended, colours = false } = cli;
  const { values, format, verbose } = valuesOf(command);
  // Loaded only where it is used, because it would slow every start.
  const yamlLines = format === 'yaml' ? (await import('./terminal/yaml.ts')).yamlLines : undefined;
  const asShown = (line: string): string => (colours ? line : stripVTControlCharacters(line));
  const context: CommandContext = {
    env: cli.env,
    connect: cli.connect,
    log: verbose ? logTo(err) : noLog,
    terminal,
    input: cli.input ?? (() => Readable.from([])),
    show(text, json) {
      if (yamlLines) for (const line of ['---', ...yamlLines(json)]) out(line);
      else if (format === 'json') out(jsonText(json));
      else for (const line of text) out(asShown(line));
    },
    warn(sentence) {
      terminal.progress('');
      err(`tailrace: ${sentence}`);
    },
  };
  try {
    const { text, raw, json, yaml, exitCode = exitCodes.done } = await run(values as never, context);
    terminal.progress('');
    if (raw) outBytes?.(raw);
    else if (format === 'text') for (const line of text) out(asShown(line));
    else if (json !== undefined) {
      const lines = yamlLines ? (yaml ?? yamlLines(json)) : undefined;
      for (const line of lines ?? [jsonText(json, 2)]) out(line);
    }
    return exitCode;
  } catch (error) {
    terminal.progress('');
    if (error instanceof UsageError) command.error(`error: ${error.message}`);
    if (!isTailraceError(error)) throw error;
    const [first = '', ...more] = error.message.split('\n');
    const heading = headings[error.code as keyof typeof headings] as string | undefined;
    if (heading === undefined) err(`tailrace: ${[first, ...more].join('\n  ')}`);
    else err([`tailrace: ${heading}`, first, ...more].join('\n  '));
    return error.code === 'invalid-settings' ? exitCodes.usage : exitCodes.failed;
  }
}

/** Arguments and options in one object, by their names in camel case. */
function valuesOf(command: Command) {
  const { output, verbose, ...options } = command.opts<{
    output: 'text' | 'json' | 'yaml';
    verbose?: boolean;
  }>();
  const args = command.registeredArguments.map((argument, index): [string, unknown] => [
    argument.name().replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    command.processedArgs[index],
  ]);
  return {
    values: { ...options, ...Object.fromEntries(args) },
    format: output,
    verbose: verbose === true,
  };
}

/** The first line of errors that list several problems. */
const headings = {
  'invalid-settings': 'invalid settings:',
  'invalid-configuration': 'invalid configuration, nothing was changed:',
} as const;

function logTo(err: (line: string) => void): KafkaLog {
  const write = (level: string) => (fields: object, message: string) =>
    err(`${level}: ${message} ${JSON.stringify(fields)}`);
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

const ignore = (): void => undefined;
const noLog: KafkaLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };
