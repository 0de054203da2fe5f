/** JSON log lines on standard output. */
import { pino, type DestinationStream, type Logger } from 'pino';
import { Output } from './output.ts';
import { createErrorSerializer } from './repeated-stacks.ts';
import type { LogLevel } from '../settings/shared.ts';

export type Log = Logger;

/** The log of the process. Buffered lines are written when the process exits. */
export function createLog(service: string, level: LogLevel): Log {
  const output = new Output(1);
  process.on('exit', () => output.flush());
  return createLogTo(output, service, level);
}

/** Like {@link createLog}, for any destination. */
export function createLogTo(destination: DestinationStream, service: string, level: LogLevel): Log {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: createErrorSerializer() },
      formatters: {
        level: (label) => ({ level: label }),
        log: redact,
      },
    },
    destination,
  );
}

/**
 * In lower case, without dashes and underscores. `headers` is included because webhook headers may be credentials, and `ed25519` because it
 * has private keys.
 */
const secretNames = new Set([
  'apikey',
  'apitoken',
  'authorization',
  'clientkey',
  'cookie',
  'ed25519',
  'headers',
  'password',
  'previoussharedsecret',
  'secret',
  'secretkey',
  'sharedsecret',
  'token',
  'writekey',
  'writekeys',
]);
const redactedDepth = 8;

/**
 * Replaces the values of fields with secret names, up to a depth of 8. pino's redaction makes a line four times as
 * expensive with wildcards; this costs nothing measurable if there is no secret. It does not see the bindings of a
 * child log: do not bind secrets.
 */
function redact(fields: Record<string, unknown>): Record<string, unknown> {
  return withoutSecrets(fields, redactedDepth) as Record<string, unknown>;
}

function withoutSecrets(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Error || depth === 0) return value;
  let copy: Record<string, unknown> | unknown[] | undefined;
  for (const [name, item] of Object.entries(value)) {
    const shown = isSecretName(name) && item !== undefined ? '[redacted]' : withoutSecrets(item, depth - 1);
    if (shown === item) continue;
    copy ??= Array.isArray(value) ? [...(value as unknown[])] : { ...value };
    (copy as Record<string, unknown>)[name] = shown;
  }
  return copy ?? value;
}

const checkedNames = new Map<string, boolean>();
/** Limits the memory for names that do not come from code. */
const maxCheckedNames = 1_000;

function isSecretName(name: string): boolean {
  const known = checkedNames.get(name);
  if (known !== undefined) return known;
  const isSecret = secretNames.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
  if (checkedNames.size < maxCheckedNames) checkedNames.set(name, isSecret);
  return isSecret;
}
