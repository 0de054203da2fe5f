/** The log this package writes to, pino's shape, and the bridge that brings the client library's lines there. */
import type { logCreator } from 'kafkajs';

type Write = (fields: object, message: string) => void;

export interface KafkaLog {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}

/**
 * The library calls errors what it will itself retry and warns of what is no news, so all it says is for
 * debugging. What truly failed it throws to our own code, which says so once, in its own words.
 */
export function bridgeLog(log: KafkaLog): logCreator {
  return () =>
    ({ namespace, label, log: { message, ...fields } }) => {
      log.debug({ kafka: namespace, kafkaLevel: label, ...withoutNoise(fields) }, message);
    };
}

/** Stacks are the library's own insides; time and logger are in every line already. */
function withoutNoise(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => !['stack', 'timestamp', 'logger'].includes(name)),
  );
}
