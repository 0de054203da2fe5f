/** The fields of the form of a destination, and the entry that they make. */
import type { Schema } from '../../api/client.ts';
import { linesOf, numberOf } from '../../parts/form.ts';
import { omit } from '../../versions/omit.ts';

export type Destination = Schema['Destination'];

export interface UrlDraft {
  readonly url: string;
  readonly method: 'POST' | 'PUT' | 'PATCH';
  /** `Name: value` in each line. */
  readonly headers: string;
  readonly secretHeaders: readonly string[];
}

type Signature = NonNullable<Destination['settings']['signature']>;

export interface SignatureDraft {
  readonly header: string;
  readonly algorithm: NonNullable<Signature['algorithm']>;
  readonly encoding: NonNullable<Signature['encoding']>;
  readonly prefix: string;
  readonly timestamp: boolean;
}

/** Lists are separated by commas. */
export interface PaceDraft {
  readonly burst: string;
  readonly maxInFlight: string;
  readonly timeout: string;
  readonly retryFor: string;
  readonly retrySchedule: string;
  readonly retryOn: string;
  readonly disableAfter: string;
}

/** Lists have one path in each line. */
export interface BodyDraft {
  readonly include: string;
  readonly exclude: string;
  readonly hash: string;
  /** Undefined where none is set: an empty one is another one. */
  readonly salt: string | undefined;
  /** `path -> key` in each line. */
  readonly rename: string;
}

export interface SampleDraft {
  readonly percent: string;
  readonly by: 'user' | 'event';
}

type OAuth2 = NonNullable<Destination['settings']['oauth2']>;

/** Masks stand for a stored password, token or client secret. */
export interface AuthDraft {
  readonly kind: 'none' | 'basic' | 'bearer' | 'oauth2';
  readonly username: string;
  readonly password: string;
  readonly token: string;
  readonly oauth2: Required<OAuth2>;
}

export interface Draft {
  readonly name: string;
  readonly sources: readonly string[];
  readonly urls: readonly UrlDraft[];
  /** Empty if none is set. A mask stands for the stored one. */
  readonly secret: string;
  readonly contentType: 'json' | 'form';
  readonly auth: AuthDraft;
  readonly signature: SignatureDraft;
  readonly standardWebhooks: boolean;
  readonly ed25519: boolean;
  readonly deliveryIdHeader: string;
  readonly traceparent: boolean;
  readonly ordering: 'none' | 'user';
  /** Past the egress proxy. */
  readonly isDirect: boolean;
  readonly rateLimit: string;
  readonly pace: PaceDraft;
  readonly sample: SampleDraft;
  readonly body: BodyDraft;
}

const defaultSignature: SignatureDraft = {
  header: '',
  algorithm: 'hmac-sha1',
  encoding: 'hex',
  prefix: '',
  timestamp: false,
};
const emptyOAuth2: AuthDraft['oauth2'] = {
  tokenUrl: '',
  clientId: '',
  clientSecret: '',
  scope: '',
  audience: '',
  authMethod: 'client_secret_basic',
};
const emptyUrl: UrlDraft = { url: '', method: 'POST', headers: '', secretHeaders: [] };

export function newDraft(sources: readonly string[]): Draft {
  return {
    name: '',
    sources,
    urls: [emptyUrl],
    secret: '',
    contentType: 'json',
    auth: authDraftOf({}),
    signature: defaultSignature,
    standardWebhooks: false,
    ed25519: false,
    deliveryIdHeader: '',
    traceparent: false,
    ordering: 'none',
    isDirect: false,
    rateLimit: '',
    pace: paceDraftOf({}),
    sample: sampleDraftOf(undefined),
    body: bodyDraftOf({}),
  };
}

export function withUrl(draft: Draft): Draft {
  return { ...draft, urls: [...draft.urls, emptyUrl] };
}

export function draftOf(destination: Destination): Draft {
  const { name = '', sources, rateLimit, ordering = 'none', settings } = destination;
  return {
    name,
    sources,
    ordering,
    isDirect: destination.proxy === 'none',
    rateLimit: String(rateLimit ?? ''),
    pace: paceDraftOf(destination),
    sample: sampleDraftOf(destination.sample),
    body: bodyDraftOf(destination.fields),
    secret: settings.sharedSecret ?? '',
    contentType: settings.contentType ?? 'json',
    auth: authDraftOf(settings),
    signature: { ...defaultSignature, ...settings.signature },
    standardWebhooks: settings.standardWebhooks ?? false,
    ed25519: settings.ed25519 !== undefined,
    deliveryIdHeader: settings.deliveryIdHeader ?? '',
    traceparent: settings.traceparent ?? false,
    urls: settings.webhooks.map(({ url, method = 'POST', headers = {}, secretHeaders = [] }) => ({
      url,
      method,
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
  const rest = omit(
    before,
    'name',
    'rateLimit',
    'ordering',
    'proxy',
    'burst',
    'maxInFlight',
    'timeout',
    'retry',
    'disableAfter',
    'sample',
    'fields',
  );
  const stored = before.settings ?? { webhooks: [] };
  const settings = omit(
    stored,
    'sharedSecret',
    'contentType',
    'auth',
    'oauth2',
    'signature',
    'standardWebhooks',
    'ed25519',
    'deliveryIdHeader',
    'traceparent',
  );
  const signature = signatureOf(draft.signature, stored.signature);
  const rateLimit = numberOf(draft.rateLimit);
  return {
    ...rest,
    ...(draft.name.trim() !== '' && { name: draft.name.trim() }),
    ...(rateLimit !== null && { rateLimit }),
    ...paceOf(draft.pace),
    ...sampleOf(draft.sample, before.sample),
    ...fieldsOfBody(draft.body, before.fields?.rename),
    ...set('ordering', draft.ordering, 'none', before.ordering),
    ...(draft.isDirect && { proxy: 'none' }),
    sources: [...draft.sources],
    settings: {
      ...settings,
      ...(draft.secret !== '' && { sharedSecret: draft.secret }),
      ...set('contentType', draft.contentType, 'json', stored.contentType),
      ...authOf(draft.auth, stored.oauth2),
      ...(draft.secret !== '' && signature && { signature }),
      ...set('standardWebhooks', draft.standardWebhooks, false, stored.standardWebhooks),
      ...(draft.ed25519 && { ed25519: stored.ed25519 ?? {} }),
      ...(draft.deliveryIdHeader.trim() !== '' && { deliveryIdHeader: draft.deliveryIdHeader.trim() }),
      ...set('traceparent', draft.traceparent, false, stored.traceparent),
      webhooks: draft.urls.map((one, index) => webhookOf(one, stored.webhooks[index]?.method)),
    },
  };
}

/** A field with its default stays left out where it was left out. */
function set<Name extends string, Value>(
  name: Name,
  value: Value,
  byDefault: NoInfer<Value>,
  before: NoInfer<Value> | undefined,
): Partial<Record<Name, Value>> {
  return value !== byDefault || before !== undefined ? ({ [name]: value } as Record<Name, Value>) : {};
}

type Auth = Pick<Destination['settings'], 'auth' | 'oauth2'>;

function authDraftOf({ auth, oauth2 }: Auth): AuthDraft {
  const { username = '', password = '', token = '' } = auth ?? {};
  return {
    kind: authKindOf({ auth, oauth2 }),
    username,
    password,
    token,
    oauth2: { ...emptyOAuth2, ...oauth2 },
  };
}

function authKindOf({ auth, oauth2 }: Auth): AuthDraft['kind'] {
  if (oauth2) return 'oauth2';
  if (!auth) return 'none';
  return auth.token === undefined ? 'basic' : 'bearer';
}

function authOf({ kind, username, password, token, oauth2 }: AuthDraft, before: OAuth2 | undefined): Auth {
  switch (kind) {
    case 'none':
      return {};
    case 'basic':
      return { auth: { username, password } };
    case 'bearer':
      return { auth: { token } };
    case 'oauth2': {
      const { tokenUrl, clientId, clientSecret, scope, audience, authMethod } = oauth2;
      return {
        oauth2: {
          tokenUrl: tokenUrl.trim(),
          clientId,
          clientSecret,
          ...(scope.trim() !== '' && { scope: scope.trim() }),
          ...(audience.trim() !== '' && { audience: audience.trim() }),
          ...set('authMethod', authMethod, 'client_secret_basic', before?.authMethod),
        },
      };
    }
  }
}

type Pace = Pick<Destination, 'burst' | 'maxInFlight' | 'timeout' | 'retry' | 'disableAfter'>;

function paceDraftOf({ burst, maxInFlight, timeout = '', retry = {}, disableAfter = '' }: Pace): PaceDraft {
  return {
    burst: String(burst ?? ''),
    maxInFlight: String(maxInFlight ?? ''),
    timeout,
    retryFor: retry.for ?? '',
    retrySchedule: (retry.schedule ?? []).join(', '),
    // A list without items is not the same as none.
    retryOn: retry.on?.length === 0 ? 'none' : (retry.on ?? []).join(', '),
    disableAfter,
  };
}

function paceOf(draft: PaceDraft): Pace {
  const [burst, maxInFlight] = [numberOf(draft.burst), numberOf(draft.maxInFlight)];
  const [schedule, on] = [itemsOf(draft.retrySchedule), itemsOf(draft.retryOn)];
  const retry = {
    ...(draft.retryFor.trim() !== '' && { for: draft.retryFor.trim() }),
    ...(schedule.length > 0 && { schedule }),
    ...(on.length > 0 && { on: on[0] === 'none' ? [] : on.map((one) => numberOf(one) ?? one) }),
  };
  return {
    ...(burst !== null && { burst }),
    ...(maxInFlight !== null && { maxInFlight }),
    ...(draft.timeout.trim() !== '' && { timeout: draft.timeout.trim() }),
    ...(Object.keys(retry).length > 0 && { retry }),
    ...(draft.disableAfter.trim() !== '' && { disableAfter: draft.disableAfter.trim() }),
  };
}

function itemsOf(typed: string): string[] {
  return linesOf(typed.replaceAll(',', '\n'));
}

type Sample = Destination['sample'];

function sampleDraftOf(sample: Sample): SampleDraft {
  return { percent: String(sample?.percent ?? ''), by: sample?.by ?? 'user' };
}

function sampleOf({ percent, by }: SampleDraft, before: Sample): Pick<Destination, 'sample'> {
  const number = numberOf(percent);
  return number === null ? {} : { sample: { percent: number, ...set('by', by, 'user', before?.by) } };
}

type Fields = Destination['fields'];

function bodyDraftOf({
  include = [],
  exclude = [],
  hash = [],
  salt,
  rename = {},
}: NonNullable<Fields> = {}): BodyDraft {
  return {
    include: include.join('\n'),
    exclude: exclude.join('\n'),
    hash: hash.join('\n'),
    salt,
    rename: Object.entries(rename).map(renameLine).join('\n'),
  };
}

function renameLine([path, key]: Pair): string {
  return `${path} -> ${key}`;
}

function fieldsOfBody(
  draft: BodyDraft,
  before: NonNullable<Fields>['rename'] = {},
): Pick<Destination, 'fields'> {
  const [include, exclude, hash] = [linesOf(draft.include), linesOf(draft.exclude), linesOf(draft.hash)];
  // Paths and keys may have arrows too: a line that is not changed stays what it was.
  const known = new Map(Object.entries(before).map((pair) => [renameLine(pair).trim(), pair]));
  const rename = Object.fromEntries(
    linesOf(draft.rename).map((line) => known.get(line) ?? pairOf(line, '->')),
  );
  const fields = {
    ...(include.length > 0 && { include }),
    ...(exclude.length > 0 && { exclude }),
    ...(hash.length > 0 && { hash, ...(draft.salt !== undefined && { salt: draft.salt }) }),
    ...(Object.keys(rename).length > 0 && { rename }),
  };
  return Object.keys(fields).length > 0 ? { fields } : {};
}

/** Undefined where nothing is set. */
function signatureOf(draft: SignatureDraft, before: Signature | undefined): Signature | undefined {
  const signature = {
    ...(draft.header.trim() !== '' && { header: draft.header.trim() }),
    ...set('algorithm', draft.algorithm, 'hmac-sha1', before?.algorithm),
    ...set('encoding', draft.encoding, 'hex', before?.encoding),
    ...(draft.prefix !== '' && { prefix: draft.prefix }),
    ...set('timestamp', draft.timestamp, false, before?.timestamp),
  };
  return before !== undefined || Object.keys(signature).length > 0 ? signature : undefined;
}

function webhookOf(
  { url, method, headers, secretHeaders }: UrlDraft,
  methodBefore: UrlDraft['method'] | undefined,
): Schema['Webhook'] {
  const given = Object.fromEntries(linesOf(headers).map((line) => pairOf(line, ':')));
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()));
  const kept = secretHeaders.filter((name) => names.has(name.toLowerCase()));
  return {
    url: url.trim(),
    ...set('method', method, 'POST', methodBefore),
    ...(Object.keys(given).length > 0 && { headers: given }),
    ...(kept.length > 0 && { secretHeaders: kept }),
  };
}

type Pair = [name: string, value: string];

/** Of a line without a separator, the value is empty, about which the answer of the API says what is wrong. */
function pairOf(line: string, separator: string): Pair {
  const at = line.indexOf(separator);
  return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + separator.length).trim()];
}
