/** A command: its input, its result and its exit code. `declare.ts` declares the command lines. */
import type { Readable } from 'node:stream';
import type { connectKafka, KafkaLog } from '@tailrace/kafka';
import type { Environment } from '@tailrace/service';
import type { Terminal } from './terminal/terminal.ts';

export const exitCodes = {
  done: 0,
  failed: 1,
  /** The command line or the settings are wrong: running the same command again cannot succeed. */
  usage: 2,
  /** Ended by Ctrl-C before it was done: 128 + SIGINT, as shells report it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The command line is wrong in a way that only the command itself can detect. */
export class UsageError extends Error {}

export interface CommandContext {
  readonly env: Environment;
  /** Default: `connectKafka`. */
  readonly connect: typeof connectKafka | undefined;
  /** Receives the log of the Kafka client; shown with --verbose. */
  readonly log: KafkaLog;
  readonly terminal: Terminal;
  /** Writes a part of the result immediately: `text` as lines, or `json` with `--output json` (a line) or `yaml` (a document). */
  readonly show: (text: readonly string[], json: unknown) => void;
  /** Writes a sentence to standard error. */
  readonly warn: (sentence: string) => void;
  /** Opens standard input. */
  readonly input: () => Readable;
}

export interface Outcome {
  /** Default: done. */
  readonly exitCode?: ExitCode;
  /** The result as lines of text. */
  readonly text: readonly string[];
  /** Bytes to write instead of `text`. */
  readonly raw?: Buffer;
  /** The result for `--output json` and `yaml`; nothing is written if undefined. */
  readonly json: unknown;
  /** The lines for `--output yaml`, if they are not those of `json`. */
  readonly yaml?: readonly string[];
}

/** `values` has the arguments and options of the command line by their names in camel case. */
export type Run<Values> = (values: Values, context: CommandContext) => Promise<Outcome>;
