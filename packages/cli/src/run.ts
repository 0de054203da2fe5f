/** From a command line to an exit code. Results go to standard output, everything else to standard error. */
import { Readable } from 'node:stream';
import { isTailraceError } from '@tailrace/errors';
import type { KafkaLog } from '@tailrace/kafka';
import type { Environment } from '@tailrace/service';
import packageJson from '../package.json' with { type: 'json' };
import { exitCodes, UsageError, type ExitCode } from './command.ts';
import { commands, sections } from './commands.ts';
import { helpOn } from './help.ts';
import { parseArguments, type Invocation } from './parse.ts';
import { nobody, type Terminal } from './terminal.ts';

export interface CliContext {
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  /** Bytes for standard output, as they are. */
  readonly outBytes?: (bytes: Buffer) => void;
  /** Standard input; by default there is nothing in it. */
  readonly input?: () => Readable;
  /** By default, nobody is there. */
  readonly terminal?: Terminal;
}

export async function runCli(context: CliContext): Promise<ExitCode> {
  const { argv, out, err } = context;
  let invocation: Invocation;
  try {
    invocation = parseArguments(argv, commands);
  } catch (error) {
    return reportUsage(error, err, '');
  }

  if (invocation.kind === 'help') {
    out(helpOn(invocation.topic, sections));
    return exitCodes.done;
  }
  if (invocation.kind === 'version') {
    out(packageJson.version);
    return exitCodes.done;
  }

  return runCommand(invocation, context);
}

async function runCommand(
  { command, options, asJson, verbose }: Invocation & { kind: 'run' },
  { env, out, err, outBytes, input = () => Readable.from([]), terminal = nobody }: CliContext,
): Promise<ExitCode> {
  try {
    const { text, raw, json, exitCode } = await command.run(options, {
      env,
      log: verbose ? logTo(err) : noLog,
      terminal,
      input,
      show(text, json) {
        for (const line of asJson ? [JSON.stringify(json)] : text) out(line);
      },
      warn(sentence) {
        terminal.progress('');
        err(`tailrace: ${sentence}`);
      },
    });
    terminal.progress('');
    if (raw) outBytes?.(raw);
    else if (!asJson) for (const line of text) out(line);
    else if (json !== undefined) out(JSON.stringify(json, undefined, 2));
    return exitCode;
  } catch (error) {
    terminal.progress('');
    if (!isTailraceError(error)) return reportUsage(error, err, `${command.name} `);
    const [first = '', ...more] = error.message.split('\n');
    // A list of problems stands below its heading; a single sentence stands beside the name.
    const heading = headings[error.code as keyof typeof headings] as string | undefined;
    if (heading === undefined) err(`tailrace: ${[first, ...more].join('\n  ')}`);
    else err([`tailrace: ${heading}`, first, ...more].join('\n  '));
    return error.code === 'invalid-settings' ? exitCodes.usage : exitCodes.failed;
  }
}

/** Throws what is not about the command line. */
function reportUsage(error: unknown, err: (line: string) => void, command: string): ExitCode {
  if (!(error instanceof UsageError)) throw error;
  err(`tailrace: ${error.message}`);
  err(`See tailrace ${command}--help.`);
  return exitCodes.usage;
}

const headings = {
  'invalid-settings': 'the settings are not usable:',
  'invalid-configuration': 'the configuration is not usable, and nothing was changed:',
} as const;

function logTo(err: (line: string) => void): KafkaLog {
  const write = (level: string) => (fields: object, message: string) => {
    err(`${level}: ${message} ${JSON.stringify(fields)}`);
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

const ignore = (): void => undefined;
const noLog: KafkaLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };
