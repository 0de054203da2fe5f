/**
 * Serialises errors for the log. While Kafka is away, the same error is logged every second; its stack is logged once a
 * minute, and the lines between have a count instead.
 *
 * Errors are the same if they have the same code and were thrown in the same place, with the same causes. Messages do not
 * count, because they may contain something new each time.
 */
import { pino } from 'pino';

type Serialized = Readonly<Record<string, unknown>>;

const stackEveryMs = 60_000;
/** Together less than 200 KB. Of more errors, the oldest are forgotten. */
const [mostErrors, mostCharacters] = [200, 500];
const mostCauses = 5;

interface Seen {
  readonly stackAt: number;
  repeats: number;
}

export function createErrorSerializer(): (error: unknown) => unknown {
  const seen = new Map<string, Seen>();
  return (error) => {
    if (!(error instanceof Error)) return error;
    const serialized = pino.stdSerializers.err(error) as unknown as Serialized;
    const identity = identityOf(serialized);
    const known = seen.get(identity);
    const now = performance.now();
    if (known && now - known.stackAt < stackEveryMs) {
      known.repeats += 1;
      return { ...withoutStacks(serialized), repeats: known.repeats };
    }
    seen.delete(identity);
    seen.set(identity, { stackAt: now, repeats: 0 });
    if (seen.size > mostErrors) seen.delete(seen.keys().next().value ?? '');
    return serialized;
  };
}

/** The code, and where the error and its causes were thrown. */
function identityOf({ type, code, stack }: Serialized): string {
  const places = String(stack)
    .split('\ncaused by: ', mostCauses)
    .map((one) => /^ +at .*$/m.exec(one)?.[0].trim() ?? '');
  return [type, code, ...places].join('\n').slice(0, mostCharacters);
}

function withoutStacks(value: Serialized): Serialized {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'stack')
      .map(([name, part]) => [name, Array.isArray(part) ? part.map(withoutStack) : withoutStack(part)]),
  );
}

/** Of an error within an error. */
function withoutStack(part: unknown): unknown {
  return typeof part === 'object' && part !== null && 'stack' in part ? withoutStacks(part) : part;
}
