/** From a command line to an exit code. Results go to standard output, everything else to standard error. */
import { isTailraceError } from '@tailrace/errors';
import type { KafkaLog } from '@tailrace/kafka';
import type { Environment } from '@tailrace/service';
import packageJson from '../../package.json' with { type: 'json' };
import { apply } from './apply.ts';
import { deadList } from './dead-list.ts';
import { deadReplay } from './dead-replay.ts';
import { deadShow } from './dead-show.ts';
import { exitCodes, UsageError, type Command, type ExitCode } from './command.ts';
import { helpOn } from './help.ts';
import { parseArguments, type Invocation } from './parse.ts';
import { nobody, type Terminal } from './terminal.ts';
import { topicsApply, topicsList } from './topics.ts';

/** In the order of help, which is the order of first use. */
const commands: readonly Command[] = [topicsApply, topicsList, apply, deadList, deadShow, deadReplay];

export interface CliContext {
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  /** Bytes for standard output, as they are. */
  readonly outBytes?: (bytes: Buffer) => void;
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
    out(helpOn(invocation.topic, commands));
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
  { env, out, err, outBytes, terminal = nobody }: CliContext,
): Promise<ExitCode> {
  try {
    const log = verbose ? logTo(err) : noLog;
    const { text, raw, json, exitCode } = await command.run(options, {
      ...{ env, log, terminal },
      warn: (sentence) => {
        err(`tailrace: ${sentence}`);
      },
    });
    terminal.progress('');
    if (raw) outBytes?.(raw);
    else for (const line of asJson ? [JSON.stringify(json, undefined, 2)] : text) out(line);
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
