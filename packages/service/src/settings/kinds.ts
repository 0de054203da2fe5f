/** Schemas for the forms of settings that JSON Schema has no type for. Use TypeBox directly for the others. */
import { isIPv6 } from 'node:net';
import Type, { type TInteger, type TSchemaOptions, type TString } from 'typebox';

type Options<T> = TSchemaOptions & {
  readonly env: string;
  readonly description: string;
  readonly default?: T;
};

/** A TCP port; the system chooses a free one for 0. */
export function port(options: Options<number>): TInteger {
  return Type.Integer({ minimum: 0, maximum: 65_535, form: 'a port from 0 to 65535', ...options });
}

/** The address that servers listen on; all interfaces where it is not set. */
export function host(options: Options<string>): TString {
  return Type.String({ format: 'ip', form: 'an IP address of this machine', ...options });
}

/** Milliseconds, written as a duration: `250ms`, `10s`, `1m`, `4h`, `7d`. */
export function duration(options: Options<number> & { minimum?: number; maximum?: number }): TInteger {
  return Type.Integer({ unit: 'ms', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, ...options });
}

/** Bytes, written as a number alone or with KB, MB or GB, each 1024 of the one before. */
export function bytes(options: Options<number> & { minimum?: number }): TInteger {
  return Type.Integer({ unit: 'bytes', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, ...options });
}

/** An http or https URL. */
export function httpUrl(options: Options<string>): TString {
  return Type.String({ format: 'http-url', form: 'a full URL with http or https', ...options });
}

/** Key material of exactly `lengthBytes`, written in hex. Always secret. */
export function hexKey(lengthBytes: number, options: Options<never>) {
  const digits = lengthBytes * 2;
  const form = `${lengthBytes} bytes in hex (${digits} digits)`;
  const text = Type.String({ pattern: `^[0-9a-fA-F]{${digits}}$`, form, writeOnly: true, ...options });
  return Type.Decode(text, (hex) => Buffer.from(hex, 'hex'));
}

/** A range of addresses, as `BlockList.addSubnet` of node:net takes it. */
export interface Cidr {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Address ranges in CIDR notation, separated by commas; none by default. */
export function cidrs(options: Options<never>) {
  const form = 'address ranges such as 127.0.0.0/8,fd00::/8';
  const list = Type.Array(Type.String({ format: 'cidr' }), {
    maxItems: 1_000,
    form,
    ...options,
    default: [],
  });
  return Type.Decode(list, (ranges): readonly Cidr[] =>
    ranges.map((range) => {
      const [address = '', prefix] = range.split('/');
      return Object.freeze({ address, prefix: Number(prefix), family: isIPv6(address) ? 'ipv6' : 'ipv4' });
    }),
  );
}
