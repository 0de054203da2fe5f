/** The log that this package writes to, compatible with pino, and the bridge for the client library's log lines. */
import type { logCreator } from 'kafkajs';

type Write = (fields: object, message: string) => void;

export interface KafkaLog {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}

/**
 * All of the library's lines are logged at `debug`: its errors include failures that it will retry itself. A failure that
 * matters is thrown, and this package logs it once.
 */
export function bridgeLog(log: KafkaLog): logCreator {
  return () =>
    ({ namespace, label, log: { message, ...fields } }) =>
      log.debug({ kafka: namespace, kafkaLevel: label, ...withoutNoise(fields) }, message);
}

/** Removes the library's stacks, and the time and logger, which each line has already. */
function withoutNoise(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => !['stack', 'timestamp', 'logger'].includes(name)),
  );
}
