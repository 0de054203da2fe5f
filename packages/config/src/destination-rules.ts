/** What must hold between the fields of one destination, which a schema of single fields does not say. */
import { field, items, problem, quote, repeats, type FieldPath, type Problem } from './problem.ts';
import { isSealed } from './seal.ts';
import { secretsOf } from './secrets.ts';
import { refuseCertificates, refuseKeyPair, refusePrivateKey } from './tls-rules.ts';

/** @param destination anything: fields that are not what they should be have problems of their own */
export function destinationProblems(destination: unknown, path: FieldPath): Problem[] {
  const settings = field(destination, 'settings');
  const settingsPath = [...path, 'settings'];
  return [
    ...repeatedHeaders(settings, settingsPath),
    ...missingSecretHeaders(settings, settingsPath),
    ...sealedValues(destination, path),
    ...unusableSecrets(settings, settingsPath),
    ...unusableKeyPair(field(settings, 'tls'), [...settingsPath, 'tls']),
  ];
}

/** Names of headers are the same whatever their case (RFC 9110, section 5.1). */
function repeatedHeaders(settings: unknown, path: FieldPath): Problem[] {
  return items(field(settings, 'webhooks')).flatMap((webhook, index) => {
    const headers = field(webhook, 'headers');
    const names = typeof headers === 'object' && headers !== null ? Object.keys(headers) : [];
    return repeats(names.map((name) => name.toLowerCase())).map(({ at, first }) =>
      problem(
        [...path, 'webhooks', index, 'headers', names[at] ?? ''],
        `is the same header as ${quote(names[first] ?? '')}`,
        'key',
      ),
    );
  });
}

function missingSecretHeaders(settings: unknown, path: FieldPath): Problem[] {
  return items(field(settings, 'webhooks')).flatMap((webhook, index) => {
    const headers = field(webhook, 'headers');
    const names = typeof headers === 'object' && headers !== null ? Object.keys(headers) : [];
    const known = new Set(names.map((name) => name.toLowerCase()));
    return items(field(webhook, 'secretHeaders')).flatMap((name, position) => {
      if (typeof name !== 'string' || known.has(name.toLowerCase())) return [];
      return [
        problem([...path, 'webhooks', index, 'secretHeaders', position], 'names no header of this webhook'),
      ];
    });
  });
}

/** A secret that looks sealed could not be told from one that is. */
function sealedValues(destination: unknown, path: FieldPath): Problem[] {
  return [...secretsOf(destination)].flatMap((secret) =>
    isSealed(secret.value)
      ? [problem([...path, ...secret.path], 'is in the form of a sealed secret, which only Tailrace writes')]
      : [],
  );
}

function unusableSecrets(settings: unknown, path: FieldPath): Problem[] {
  const current = field(settings, 'sharedSecret');
  const previous = field(settings, 'previousSharedSecret');
  const isStandard = field(settings, 'standardWebhooks') === true;
  const problems: Problem[] = [];
  if (previous !== undefined && current === undefined) {
    problems.push(
      problem([...path, 'previousSharedSecret'], 'is there without sharedSecret, the newer one of the two'),
    );
  } else if (typeof previous === 'string' && previous === current) {
    problems.push(problem([...path, 'previousSharedSecret'], 'is the same as sharedSecret'));
  }
  if (!isStandard) return problems;
  if (current === undefined) {
    problems.push(problem([...path, 'standardWebhooks'], 'needs a sharedSecret to sign with'));
  }
  for (const name of ['sharedSecret', 'previousSharedSecret']) {
    const secret = field(settings, name);
    if (typeof secret === 'string' && secret.startsWith('whsec_') && !isBase64(secret.slice(6))) {
      problems.push(
        problem([...path, name], 'begins with whsec_, after which Standard Webhooks wants a key in base64'),
      );
    }
  }
  return problems;
}

function isBase64(text: string): boolean {
  return text !== '' && Buffer.from(text, 'base64').toString('base64') === text;
}

function unusableKeyPair(tls: unknown, path: FieldPath): Problem[] {
  const certificate = field(tls, 'clientCertificate');
  const key = field(tls, 'clientKey');
  if (certificate !== undefined && key === undefined) {
    return [problem([...path, 'clientCertificate'], 'is there without its clientKey')];
  }
  if (key !== undefined && certificate === undefined) {
    return [problem([...path, 'clientKey'], 'is there without its clientCertificate')];
  }
  if (typeof certificate !== 'string' || typeof key !== 'string') return [];
  if (refuseCertificates(certificate) !== undefined || refusePrivateKey(key) !== undefined) return [];
  const refused = refuseKeyPair(certificate, key);
  return refused === undefined ? [] : [problem([...path, 'clientKey'], refused)];
}
