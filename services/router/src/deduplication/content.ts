/**
 * What calls with the same messageId are compared by (docs/specification.md, rules 3.2 and 3.6): everything that routing reads and that a
 * webhook contains, except the times and an `ip` in the context. An SDK that sends a call again changes `sentAt`, an application
 * that makes it again changes the other times, and ingest may add the address of the sender, who may have changed networks.
 *
 * The JSON that ingest stores begins with the type, the messageId and the times. Without the times it is compared as it is, because
 * this costs a third of parsing and serialising it again, above all where a router reads 100,000 events back. Other records are
 * compared by the JSON that ingest would have stored.
 */
import { hash } from 'node:crypto';
import type { TailraceEvent } from '@tailrace/events';

const text = String.raw`"(?:[^"\\]|\\.)*"`;
const storedTimes = new RegExp(
  String.raw`^(\{"type":"[a-z]+","messageId":${text}),"timestamp":${text},"receivedAt":${text}` +
    `(?:,"originalTimestamp":${text})?(?:,"sentAt":${text})?(?=,)`,
);
const ip = new RegExp(`,"ip":${text}|"ip":${text},?`, 'g');

/** The hash of the content of an event that was read from a record with this value. The same in every router. */
export function contentHashOf(value: Buffer | null, event: TailraceEvent): string {
  const stored = storedContentHash(value);
  if (stored !== undefined) return stored;
  const { timestamp: _, receivedAt: _r, originalTimestamp: _o, sentAt: _s, ...content } = event;
  return hashOf(JSON.stringify(content));
}

/** The same, where the value is as ingest stores it. Does not check that it is JSON. */
export function storedContentHash(value: Buffer | null): string | undefined {
  const json = value?.toString() ?? '';
  const [times, identity] = storedTimes.exec(json) ?? [];
  return times === undefined ? undefined : hashOf(`${identity}${json.slice(times.length)}`);
}

function hashOf(json: string): string {
  return hash('sha1', withoutIp(json), 'base64url');
}

/** Keys called `ip` are cut from the first object called `context` on, which is the context of the event in all but odd calls. */
function withoutIp(json: string): string {
  const context = json.indexOf(',"context":{');
  if (context < 0 || !json.includes('"ip":"', context)) return json;
  return json.slice(0, context) + json.slice(context).replace(ip, '').replace(',"context":{}', '');
}
