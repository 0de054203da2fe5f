/**
 * What calls with the same messageId are compared by (docs/specification.md, rules 3.2 and 3.6): everything that routing reads and that a
 * webhook contains, except the times and an `ip` in the context. An SDK that sends a call again changes `sentAt`, an application
 * that makes it again changes the other times, and ingest may add the address of the sender, who may have changed networks.
 *
 * The JSON that ingest stores begins with the type, the messageId and the times. Without the times and the ip it is compared as it is,
 * because this costs less than serialising the event again. Other records are compared by the JSON that ingest would have stored.
 */
import { hash } from 'node:crypto';
import { parseJson, type TailraceEvent } from '@tailrace/events';

const text = String.raw`"(?:[^"\\]|\\.)*"`;
const storedTimes = new RegExp(
  String.raw`^(\{"type":"[a-z]+","messageId":${text}),"timestamp":${text},"receivedAt":${text}` +
    `(?:,"originalTimestamp":${text})?(?:,"sentAt":${text})?(?=,)`,
);
const leadingText = new RegExp(`^${text}`);

/** The hash of the content of an event. The same in every router. `json` is what it was read from, where that is JSON. */
export function contentHashOf(json: string | undefined, event: TailraceEvent): string {
  const stored = json === undefined ? undefined : withoutTimes(json);
  const content = stored !== undefined && hasIp(event) ? withoutIp(stored) : stored;
  return hashOf(content ?? JSON.stringify(contentOf(event)));
}

/** The same, for JSON as ingest stores it. Parses it only where some object has a key `ip`. */
export function storedContentHash(json: string): string | undefined {
  const stored = withoutTimes(json);
  if (stored === undefined) return undefined;
  if (placesOfIp(stored).length === 0) return hashOf(stored);
  try {
    return contentHashOf(json, parseJson(json) as TailraceEvent);
  } catch {
    return undefined;
  }
}

function hashOf(content: string): string {
  return hash('sha1', content, 'base64url');
}

function hasIp({ context }: TailraceEvent): boolean {
  return context?.['ip'] !== undefined;
}

function contentOf(event: TailraceEvent): object {
  const { timestamp: _, receivedAt: _r, originalTimestamp: _o, sentAt: _s, ...content } = event;
  if (!hasIp(event)) return content;
  const { ip: _ip, ...context } = content.context ?? {};
  return { ...content, context: Object.keys(context).length === 0 ? undefined : context };
}

function withoutTimes(json: string): string | undefined {
  const [times, identity] = storedTimes.exec(json) ?? [];
  return times === undefined ? undefined : `${identity}${json.slice(times.length)}`;
}

/** Cuts the key `ip` of the context. Undefined where another object has one too, or where the context has nothing else. */
function withoutIp(json: string): string | undefined {
  const [place = 0, ...others] = placesOfIp(json);
  const before = json.slice(0, place);
  const after = json.slice(place + '"ip":'.length);
  const value = leadingText.exec(after)?.[0];
  if (value === undefined || others.length > 0) return undefined;
  const rest = after.slice(value.length);
  if (before.endsWith(',')) return before.slice(0, -1) + rest;
  return rest.startsWith(',') ? before + rest.slice(1) : undefined;
}

/** Where keys called `ip` begin. Searched for without the first quotation mark, of which there are many. */
function placesOfIp(json: string): readonly number[] {
  const places: number[] = [];
  for (let at = json.indexOf('ip":'); at > 0; at = json.indexOf('ip":', at + 1)) {
    if (json.charAt(at - 1) === '"') places.push(at - 1);
  }
  return places;
}
