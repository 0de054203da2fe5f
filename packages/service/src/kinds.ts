/**
 * The kinds of settings. Each takes the variable's name and, optionally, the value it has where unset;
 * without one it is `undefined` there, or see `required`.
 */
import { isIP } from 'node:net';
import { formatDuration, parseDuration } from '@tailrace/topics';
import { variable, type Setting } from './settings.ts';

/** Any text. */
export function text<F extends string | undefined = undefined>(
  name: string,
  fallback?: F,
): Setting<string | F> {
  return variable(name, fallback as F, { allowed: 'any text', parse: (found) => found });
}

/** Text that is never shown. */
export function secret(name: string): Setting<string | undefined> {
  return variable(name, undefined, { allowed: 'any text', parse: (found) => found, secret: true });
}

/** Text that `pattern` matches; `allowed` says in words what that is. */
export function pattern<F extends string | undefined = undefined>(
  name: string,
  allowed: string,
  pattern: RegExp,
  fallback?: F,
): Setting<string | F> {
  return variable(name, fallback as F, {
    allowed,
    parse: (found) => (pattern.test(found) ? found : undefined),
  });
}

/** `true` or `false`. */
export function flag<F extends boolean | undefined = undefined>(
  name: string,
  fallback?: F,
): Setting<boolean | F> {
  return variable(name, fallback as F, {
    allowed: 'true or false',
    parse: (found) => ({ true: true, false: false })[found.toLowerCase()],
  });
}

/** One of `choices`. */
export function choice<const C extends string, F extends C | undefined = undefined>(
  name: string,
  choices: readonly C[],
  fallback?: F,
): Setting<C | F> {
  return variable(name, fallback as F, {
    allowed: `one of ${choices.join(', ')}`,
    parse: (found) => choices.find((choice) => choice === found),
  });
}

/** A whole number within inclusive limits. */
export function integer<F extends number | undefined = undefined>(
  name: string,
  limits: { readonly min: number; readonly max: number },
  fallback?: F,
): Setting<number | F> {
  const { min, max } = limits;
  return variable(name, fallback as F, {
    allowed: `a whole number from ${min} to ${max}`,
    parse: (found) => within(/^-?\d{1,15}$/.test(found) ? Number(found) : undefined, min, max),
  });
}

/** A TCP port; 0 lets the system choose a free one. */
export function port<F extends number | undefined = undefined>(
  name: string,
  fallback?: F,
): Setting<number | F> {
  return variable(name, fallback as F, {
    allowed: 'a port from 0 to 65535',
    parse: (found) => within(/^\d{1,5}$/.test(found) ? Number(found) : undefined, 0, 65_535),
  });
}

/** A duration (`250ms`, `10s`, `1m`, `4h`, `7d`) in milliseconds, within inclusive limits. */
export function duration<F extends number | undefined = undefined>(
  name: string,
  fallback?: F,
  limits: { readonly minMs?: number; readonly maxMs?: number } = {},
): Setting<number | F> {
  const { minMs = 1, maxMs = Number.MAX_SAFE_INTEGER } = limits;
  const most = maxMs === Number.MAX_SAFE_INTEGER ? '' : `, ${formatDuration(maxMs)} at most`;
  return variable(name, fallback as F, {
    allowed: `a whole number with a unit (ms, s, m, h, d), ${formatDuration(minMs)} at least${most}`,
    parse: (found) => within(parseDuration(found), minMs, maxMs),
  });
}

/** Durations in milliseconds, in the order given, separated by commas; `atMost` of them. */
export function durations<F extends readonly number[] | undefined = undefined>(
  name: string,
  fallback?: F,
  limits: { readonly atMost?: number; readonly maxMs?: number } = {},
): Setting<readonly number[] | F> {
  const { atMost = 100, maxMs = Number.MAX_SAFE_INTEGER } = limits;
  const each = maxMs === Number.MAX_SAFE_INTEGER ? '' : `, each ${formatDuration(maxMs)} at most`;
  return variable(name, fallback as F, {
    allowed: `1 to ${atMost} durations such as 10s,1m,1h${each}`,
    parse: (found) => listOf(found, atMost, (item) => within(parseDuration(item), 1, maxMs)),
  });
}

const byteUnits: Readonly<Record<string, number>> = { '': 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };

/** A size in bytes: a whole number, alone or with KB, MB or GB, each 1024 of the one before. */
export function bytes<F extends number | undefined = undefined>(
  name: string,
  fallback?: F,
): Setting<number | F> {
  return variable(name, fallback as F, {
    allowed: 'a size in bytes such as 65536, 64KB, 64MB or 1GB',
    parse(found) {
      const [, digits, unit = ''] = /^(\d{1,12})(KB|MB|GB)?$/i.exec(found) ?? [];
      if (digits === undefined) return undefined;
      return within(Number(digits) * (byteUnits[unit.toUpperCase()] ?? NaN), 1, Number.MAX_SAFE_INTEGER);
    },
  });
}

/** Key material of exactly `lengthBytes`, in hex. */
export function hexKey(name: string, lengthBytes: number): Setting<Buffer | undefined> {
  return variable(name, undefined, {
    allowed: `${lengthBytes} bytes in hex, which are ${lengthBytes * 2} digits`,
    secret: true,
    parse: (found) =>
      /^[0-9a-f]*$/i.test(found) && found.length === lengthBytes * 2 ? Buffer.from(found, 'hex') : undefined,
  });
}

/** An http or https URL. */
export function httpUrl<F extends string | undefined = undefined>(
  name: string,
  fallback?: F,
): Setting<string | F> {
  return variable(name, fallback as F, {
    allowed: 'a full URL with http or https',
    parse: (found) => (/^https?:$/.test(URL.parse(found)?.protocol ?? '') ? found : undefined),
  });
}

/** A range of addresses, in the shape that `BlockList.addSubnet` of node:net takes. */
export interface Cidr {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Address ranges in CIDR notation, separated by commas; none where unset. */
export function cidrs(name: string): Setting<readonly Cidr[]> {
  return variable(name, Object.freeze([]), {
    allowed: 'address ranges such as 127.0.0.0/8,fd00::/8',
    parse: (found) => listOf(found, 1_000, parseCidr),
  });
}

/** Kafka bootstrap servers, `host:port` each, separated by commas. */
export function brokers(name: string): Setting<readonly string[] | undefined> {
  return variable(name, undefined, {
    allowed: 'host:port, or several separated by commas',
    parse: (found) => listOf(found, 1_000, parseBroker),
  });
}

function parseCidr(item: string): Cidr | undefined {
  const [, address = '', digits] = /^([^/]+)\/(\d{1,3})$/.exec(item) ?? [];
  const version = isIP(address);
  const prefix = within(Number(digits), 0, version === 6 ? 128 : 32);
  if (version === 0 || prefix === undefined) return undefined;
  return Object.freeze({ address, prefix, family: version === 6 ? 'ipv6' : 'ipv4' });
}

function parseBroker(item: string): string | undefined {
  const [, digits] = /^(?:[a-z\d._-]+|\[[a-f\d:.]+\]):(\d{1,5})$/i.exec(item) ?? [];
  return within(Number(digits), 1, 65_535) === undefined ? undefined : item;
}

/** The items of a comma separated list, or undefined where one is wrong or there are none or too many. */
function listOf<T>(
  found: string,
  atMost: number,
  parse: (item: string) => T | undefined,
): readonly T[] | undefined {
  const items = found.split(',').map((item) => parse(item.trim()));
  const good = items.filter((item) => item !== undefined);
  return good.length === items.length && good.length <= atMost ? Object.freeze(good) : undefined;
}

function within(value: number | undefined, min: number, max: number): number | undefined {
  return value !== undefined && value >= min && value <= max ? value : undefined;
}
