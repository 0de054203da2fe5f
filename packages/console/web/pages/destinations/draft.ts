/** The fields of the form of a destination, and the entry that they make. */
import type { Schema } from '../../api/client.ts';
import { linesOf, numberOf } from '../../parts/form.ts';
import { omit } from '../../versions/omit.ts';

export type Destination = Schema['Destination'];

export interface UrlDraft {
  readonly url: string;
  /** `Name: value` in each line. */
  readonly headers: string;
  readonly secretHeaders: readonly string[];
}

export interface Draft {
  readonly name: string;
  readonly sources: readonly string[];
  readonly urls: readonly UrlDraft[];
  /** Empty if none is set. A mask stands for the stored one. */
  readonly secret: string;
  readonly standardWebhooks: boolean;
  readonly traceparent: boolean;
  readonly ordering: 'none' | 'user';
  readonly rateLimit: string;
}

const emptyUrl: UrlDraft = { url: '', headers: '', secretHeaders: [] };

export function newDraft(sources: readonly string[]): Draft {
  return {
    name: '',
    sources,
    urls: [emptyUrl],
    secret: '',
    standardWebhooks: false,
    traceparent: false,
    ordering: 'none',
    rateLimit: '',
  };
}

export function withUrl(draft: Draft): Draft {
  return { ...draft, urls: [...draft.urls, emptyUrl] };
}

export function draftOf({ name = '', sources, rateLimit, ordering = 'none', settings }: Destination): Draft {
  return {
    name,
    sources,
    ordering,
    rateLimit: String(rateLimit ?? ''),
    secret: settings.sharedSecret ?? '',
    standardWebhooks: settings.standardWebhooks ?? false,
    traceparent: settings.traceparent ?? false,
    urls: settings.webhooks.map(({ url, headers = {}, secretHeaders = [] }) => ({
      url,
      secretHeaders,
      headers: Object.entries(headers)
        .map(([header, value]) => `${header}: ${value}`)
        .join('\n'),
    })),
  };
}

/** The entry with the values of the form; its other fields stay. Values that are not set are left out. */
export function entryOf(
  draft: Draft,
  before: Omit<Destination, 'sources' | 'settings'> & Partial<Destination>,
): Destination {
  const rest = omit(before, 'name', 'rateLimit', 'ordering');
  const stored = before.settings ?? { webhooks: [] };
  const settings = omit(stored, 'sharedSecret', 'standardWebhooks', 'traceparent');
  const rateLimit = numberOf(draft.rateLimit);
  return {
    ...rest,
    ...(draft.name.trim() !== '' && { name: draft.name.trim() }),
    ...(rateLimit !== null && { rateLimit }),
    ...((draft.ordering !== 'none' || before.ordering !== undefined) && { ordering: draft.ordering }),
    sources: [...draft.sources],
    settings: {
      ...settings,
      ...(draft.secret !== '' && { sharedSecret: draft.secret }),
      ...flag('standardWebhooks', draft.standardWebhooks, stored.standardWebhooks),
      ...flag('traceparent', draft.traceparent, stored.traceparent),
      webhooks: draft.urls.map(webhookOf),
    },
  };
}

/** A flag that is off stays left out where it was left out. */
function flag(name: string, value: boolean, before: boolean | undefined): Readonly<Record<string, boolean>> {
  return value || before !== undefined ? { [name]: value } : {};
}

function webhookOf({ url, headers, secretHeaders }: UrlDraft): Schema['Webhook'] {
  const given = Object.fromEntries(linesOf(headers).map(headerOf));
  const kept = secretHeaders.filter((name) => Object.hasOwn(given, name));
  return {
    url: url.trim(),
    ...(Object.keys(given).length > 0 && { headers: given }),
    ...(kept.length > 0 && { secretHeaders: kept }),
  };
}

/** A line without a colon is a name without a value, about which the answer of the API says what is wrong. */
function headerOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return colon < 0 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}
