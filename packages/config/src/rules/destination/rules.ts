/** The rules between the fields of a destination, which its schema cannot express. */
import { field, items, problem, quote, repeats, type FieldPath, type Problem } from '../problem.ts';
import { isEncrypted } from '../../secrets/encryption.ts';
import { queriesOf, secretsOf } from '../../secrets/secrets.ts';
import { certificatesProblem, keyPairProblem, privateKeyProblem } from './tls.ts';
import type { Destination } from '../schema.ts';
import { isSecretHeaderName } from './webhook.ts';

/** @param destination any value; the schema reports fields of the wrong type */
export function destinationProblems(destination: unknown, path: FieldPath): Problem[] {
  const settings = field(destination, 'settings');
  const settingsPath = [...path, 'settings'];
  return [
    ...repeatedHeaders(settings, settingsPath),
    ...missingSecretHeaders(settings, settingsPath),
    ...headersOfSettings(settings, settingsPath),
    ...burstWithoutRate(destination, path),
    ...sealedValues(destination, path),
    ...unusableAuth(field(settings, 'auth'), [...settingsPath, 'auth']),
    ...unusablePrevious(settings, settingsPath, 'sharedSecret'),
    ...unusablePrevious(field(settings, 'ed25519'), [...settingsPath, 'ed25519'], 'key'),
    ...unusableSecrets(settings, settingsPath),
    ...unusableKeyPair(field(settings, 'tls'), [...settingsPath, 'tls']),
  ];
}

/** The names of the headers of each webhook. They are case-insensitive (RFC 9110, section 5.1). */
function headersOf(settings: unknown): { webhook: unknown; index: number; names: string[] }[] {
  return items(field(settings, 'webhooks')).map((webhook, index) => {
    const headers = field(webhook, 'headers');
    const names = typeof headers === 'object' && headers !== null ? Object.keys(headers) : [];
    return { webhook, index, names };
  });
}

function repeatedHeaders(settings: unknown, path: FieldPath): Problem[] {
  return headersOf(settings).flatMap(({ index, names }) =>
    repeats(names.map((name) => name.toLowerCase())).map(({ at, first }) =>
      problem(
        [...path, 'webhooks', index, 'headers', names[at] ?? ''],
        `is the same header as ${quote(names[first] ?? '')}`,
        'key',
      ),
    ),
  );
}

function missingSecretHeaders(settings: unknown, path: FieldPath): Problem[] {
  return headersOf(settings).flatMap(({ webhook, index, names }) => {
    const known = new Set(names.map((name) => name.toLowerCase()));
    return items(field(webhook, 'secretHeaders')).flatMap((name, position) => {
      // A name that Tailrace added may be left where the header was removed.
      if (typeof name !== 'string' || known.has(name.toLowerCase()) || isSecretHeaderName(name)) return [];
      const at = [...path, 'webhooks', index, 'secretHeaders', position];
      return [problem(at, 'is not the name of a header of this webhook')];
    });
  });
}

function burstWithoutRate(destination: unknown, path: FieldPath): Problem[] {
  if (field(destination, 'burst') === undefined || field(destination, 'rateLimit') !== undefined) return [];
  return [problem([...path, 'burst'], 'is set without rateLimit, to which it is an exception; set both')];
}

/** A header that a setting makes Tailrace's. Without the setting it may have any value, as any other. */
interface ClaimedHeader {
  readonly name: string;
  readonly setting: string;
}

function claimedHeaders(settings: unknown): ClaimedHeader[] {
  const claimed = (name: unknown, setting: string): ClaimedHeader[] =>
    typeof name === 'string' ? [{ name: name.toLowerCase(), setting }] : [];
  const hasKeys = field(settings, 'ed25519') !== undefined;
  const standard =
    field(settings, 'standardWebhooks') === true ? 'standardWebhooks: true' : hasKeys ? 'ed25519' : undefined;
  return [
    ...(field(settings, 'traceparent') === true ? claimed('traceparent', 'traceparent: true') : []),
    ...(standard === undefined ? [] : claimed('webhook-id', standard)),
    ...['auth', 'oauth2'].flatMap((setting) =>
      field(settings, setting) === undefined ? [] : claimed('authorization', setting),
    ),
    ...claimed(field(field(settings, 'signature'), 'header'), 'signature.header'),
    ...claimed(field(settings, 'deliveryIdHeader'), 'deliveryIdHeader'),
  ];
}

/** The names, in lower case, of the headers that settings make Tailrace's. */
export function headersOfTailrace(settings: Destination['settings']): ReadonlySet<string> {
  return new Set(claimedHeaders(settings).map(({ name }) => name));
}

function headersOfSettings(settings: unknown, path: FieldPath): Problem[] {
  const claimed = claimedHeaders(settings);
  const bySetting = new Map(claimed.map(({ name, setting }) => [name, setting]));
  return [
    ...repeats(claimed.map(({ name }) => name)).map(({ at, first }) =>
      problem(
        [...path, ...(claimed[at]?.setting.split('.') ?? [])],
        `sets the same header as ${claimed[first]?.setting ?? ''}; change or remove one of them`,
      ),
    ),
    ...headersOf(settings).flatMap(({ index, names }) =>
      names.flatMap((name) => {
        const setting = bySetting.get(name.toLowerCase());
        if (setting === undefined) return [];
        const rule = `is set by Tailrace, because the destination has ${setting}; remove one of them`;
        return [problem([...path, 'webhooks', index, 'headers', name], rule, 'key')];
      }),
    ),
  ];
}

/** A secret in the form of an encrypted one could not be distinguished from it. */
function sealedValues(destination: unknown, path: FieldPath): Problem[] {
  return [...secretsOf(destination), ...queriesOf(destination)].flatMap((secret) =>
    isEncrypted(secret.value)
      ? [
          problem(
            [...path, ...secret.path],
            'has the form of an encrypted secret, which only Tailrace writes; use another value',
          ),
        ]
      : [],
  );
}

/** @param name of the secret: `sharedSecret`, beside which `previousSharedSecret` and `previousSharedSecretUntil` may stand */
function unusablePrevious(owner: unknown, path: FieldPath, name: string): Problem[] {
  const previousName = `previous${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const [current, previous] = [field(owner, name), field(owner, previousName)];
  if (previous === undefined) {
    return field(owner, `${previousName}Until`) === undefined
      ? []
      : [problem([...path, `${previousName}Until`], `is set without ${previousName}; remove it`)];
  }
  if (current === undefined) {
    return [problem([...path, previousName], `is set without ${name}; set ${name} to the newer secret`)];
  }
  return previous === current ? [problem([...path, previousName], `is the same as ${name}; remove it`)] : [];
}

function unusableSecrets(settings: unknown, path: FieldPath): Problem[] {
  const current = field(settings, 'sharedSecret');
  const isStandard = field(settings, 'standardWebhooks') === true;
  const problems: Problem[] = [];
  for (const setting of ['signature', ...(isStandard ? ['standardWebhooks'] : [])]) {
    if (current === undefined && field(settings, setting) !== undefined) {
      problems.push(problem([...path, setting], 'requires sharedSecret, the key of the signature'));
    }
  }
  if (!isStandard) return problems;
  for (const name of ['sharedSecret', 'previousSharedSecret']) {
    const secret = field(settings, name);
    if (typeof secret === 'string' && secret.startsWith('whsec_') && !isBase64(secret.slice(6))) {
      problems.push(
        problem(
          [...path, name],
          'begins with whsec_ and must continue with a key in base64 (Standard Webhooks)',
        ),
      );
    }
  }
  return problems;
}

function unusableAuth(auth: unknown, path: FieldPath): Problem[] {
  if (typeof auth !== 'object' || auth === null) return [];
  const present = ['username', 'password', 'token'].filter((key) => field(auth, key) !== undefined).join();
  if (present === 'token' || present === 'username,password') return [];
  return [problem(path, 'has neither a username and password nor a token alone; set one or the other')];
}

function isBase64(text: string): boolean {
  return text !== '' && Buffer.from(text, 'base64').toString('base64') === text;
}

function unusableKeyPair(tls: unknown, path: FieldPath): Problem[] {
  const certificate = field(tls, 'clientCertificate');
  const key = field(tls, 'clientKey');
  if (certificate !== undefined && key === undefined) {
    return [problem([...path, 'clientCertificate'], 'is set without clientKey; set both')];
  }
  if (key !== undefined && certificate === undefined) {
    return [problem([...path, 'clientKey'], 'is set without clientCertificate; set both')];
  }
  if (typeof certificate !== 'string' || typeof key !== 'string') return [];
  if (certificatesProblem(certificate) !== undefined || privateKeyProblem(key) !== undefined) return [];
  const message = keyPairProblem(certificate, key);
  return message === undefined ? [] : [problem([...path, 'clientKey'], message)];
}
