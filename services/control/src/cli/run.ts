/** From a command line to an exit code. Results go to standard output, everything else to standard error. */
import { isTailraceError } from '@tailrace/errors';
import type { KafkaLog } from '@tailrace/kafka';
import type { Environment } from '@tailrace/service';
import packageJson from '../../package.json' with { type: 'json' };
import { apply } from './apply.ts';
import { exitCodes, UsageError, type Command, type ExitCode } from './command.ts';
import { helpOn } from './help.ts';
import { parseArguments, type Invocation } from './parse.ts';
import { topicsApply, topicsList } from './topics.ts';

/** In the order of help, which is the order of first use. */
const commands: readonly Command[] = [topicsApply, topicsList, apply];

export interface CliContext {
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
}

export async function runCli({ argv, env, out, err }: CliContext): Promise<ExitCode> {
  let invocation: Invocation;
  try {
    invocation = parseArguments(argv, commands);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    err(`tailrace: ${error.message}`);
    err('See tailrace --help.');
    return exitCodes.usage;
  }

  if (invocation.kind === 'help') {
    out(helpOn(invocation.topic, commands));
    return exitCodes.done;
  }
  if (invocation.kind === 'version') {
    out(packageJson.version);
    return exitCodes.done;
  }

  const { command, options, asJson, verbose } = invocation;
  try {
    const { text, json, exitCode } = await command.run(options, { env, log: verbose ? logTo(err) : noLog });
    for (const line of asJson ? [JSON.stringify(json, undefined, 2)] : text) out(line);
    return exitCode;
  } catch (error) {
    if (!isTailraceError(error)) throw error;
    const [first = '', ...more] = error.message.split('\n');
    // A list of problems stands below its heading; a single sentence stands beside the name.
    const heading = headings[error.code as keyof typeof headings] as string | undefined;
    if (heading === undefined) err(`tailrace: ${[first, ...more].join('\n  ')}`);
    else err([`tailrace: ${heading}`, first, ...more].join('\n  '));
    return error.code === 'invalid-settings' ? exitCodes.usage : exitCodes.failed;
  }
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
