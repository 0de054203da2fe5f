/**
 * JSON log lines on standard output.
 *
 * Delivery writes a wide line for each of thousands of attempts a second, so lines are collected and written
 * 4 KB at a time, at the latest after 100 ms: half the CPU of a write per line. The write itself is
 * synchronous: measured, that is cheaper than handing it to the thread pool, keeps the order, leaves nothing
 * in flight at exit, and lets a reader that is too slow hold the process back instead of filling its memory.
 */
import { pino, type DestinationStream, type Logger } from 'pino';
import type { LogLevel } from './settings/shared.ts';

export type Log = Logger;

/** The process's log. Lines still collected are written when the process exits, however it comes to that. */
export function createLog(service: string, level: LogLevel): Log {
  const destination = pino.destination({ fd: 1, sync: true, minLength: 4096, periodicFlush: 100 });
  process.on('exit', () => {
    destination.flushSync();
  });
  return createLogTo(destination, service, level);
}

/** As {@link createLog}, to any destination. */
export function createLogTo(destination: DestinationStream, service: string, level: LogLevel): Log {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: redact,
      },
    },
    destination,
  );
}

/** Lower case, without dashes and underscores. `headers` as a whole: those of a webhook may be credentials. */
const secretNames = new Set([
  'apikey',
  'apitoken',
  'authorization',
  'clientkey',
  'cookie',
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
 * `fields` with the value of every secret's name replaced, at any depth that a log line has. pino's own
 * redaction makes a line cost four times as much with wildcards; this costs nothing measurable where there
 * is no secret. It sees the fields of a line, not what a child log carries: bind no secrets there.
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

const judgedNames = new Map<string, boolean>();
/** Names come from code; what somebody else names does not fill the memory. */
const maxJudgedNames = 1_000;

function isSecretName(name: string): boolean {
  const known = judgedNames.get(name);
  if (known !== undefined) return known;
  const judged = secretNames.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
  if (judgedNames.size < maxJudgedNames) judgedNames.set(name, judged);
  return judged;
}
