/**
 * The file of `tailrace config export`: a header that people can read, then the sealed configuration in base64.
 *
 *     tailrace-export/1
 *     created-at: 2026-11-22T13:00:00.000Z
 *     …
 *     seal: secret-key 1a2b3c4d 00112233445566778899aabbccddeeff
 *     bytes: 1234
 *     sha256: …
 *
 *     base64 of the sealed content, a gzipped JSON object with `sources`, `destinations` and `notifications`
 *
 * The checksum covers everything else, which distinguishes a damaged file from a wrong key. The seal authenticates the
 * header up to its own line.
 */
import { hash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { TailraceError } from '@tailrace/errors';
import { checkDestination, checkNotification, checkSource } from '../rules/check.ts';
import { field, formatPath, items, type Problem } from '../rules/problem.ts';
import type { Configuration } from '../rules/schema.ts';
import { formatSeal, newSeal, openContent, parseSeal, sealContent, type SealSecrets } from './sealing.ts';

export interface ExportOrigin {
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** The release of Tailrace that wrote the export. */
  readonly release: string;
  /** The id of the Kafka cluster. */
  readonly cluster: string;
  /** The prefix of the topics. */
  readonly prefix: string;
}

export interface ExportHeader extends ExportOrigin {
  readonly sources: number;
  readonly destinations: number;
  readonly sealedWith: 'secret-key' | 'passphrase';
}

export interface OpenedExport {
  readonly header: ExportHeader;
  readonly configuration: Configuration;
}

/** The version of the format that this release writes, and the latest that it reads. */
const formatVersion = 1;
const firstLine = /^tailrace-export\/(\d{1,9})$/;
const mostContentBytes = 512 * 2 ** 20;
const lineLength = 76;

/** @throws TailraceError `secret-key-missing` if there is nothing to seal it with */
export async function writeExport(
  { sources, destinations, notifications }: Configuration,
  origin: ExportOrigin,
  secrets: SealSecrets,
): Promise<string> {
  const seal = newSeal(secrets);
  const fields = {
    'created-at': origin.createdAt,
    release: origin.release,
    cluster: origin.cluster,
    prefix: origin.prefix,
    sources: String(sources.length),
    destinations: String(destinations.length),
    seal: formatSeal(seal),
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value.replaceAll(/\s+/g, ' ')}`);
  const header = `tailrace-export/${formatVersion}\n${lines.join('\n')}\n`;
  const content = gzipSync(JSON.stringify({ sources, destinations, notifications }));
  const sealed = await sealContent(content, header, seal, secrets);
  const body = sealed.toString('base64').match(new RegExp(`.{1,${lineLength}}`, 'g')) ?? [];
  return `${header}bytes: ${sealed.length}\nsha256: ${checksum(header, sealed)}\n\n${body.join('\n')}\n`;
}

/** @throws TailraceError `invalid-export`, whose message says what is wrong and how to fix it */
export async function openExport(text: string, secrets: SealSecrets): Promise<OpenedExport> {
  const { header, fields, sealed } = readEnvelope(text);
  const seal = parseSeal(fields.get('seal') ?? '');
  if (!seal) throw invalid('The export has a seal that this release does not know. Use a later release.');
  const content = await openContent(sealed, header, seal, secrets);
  const configuration = readContent(content);
  return {
    configuration,
    header: {
      createdAt: fields.get('created-at') ?? '',
      release: fields.get('release') ?? '',
      cluster: fields.get('cluster') ?? '',
      prefix: fields.get('prefix') ?? '',
      sources: configuration.sources.length,
      destinations: configuration.destinations.length,
      sealedWith: seal.by,
    },
  };
}

/** Checks everything that needs no key. */
function readEnvelope(given: string) {
  // A file that was sent by mail or edited may have other line ends and a byte order mark.
  const text = given.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const [head = '', ...rest] = text.split('\n\n');
  const [first = '', ...lines] = head.split('\n');
  const version = Number(firstLine.exec(first)?.[1] ?? NaN);
  if (Number.isNaN(version)) {
    throw invalid(
      'This is not an export of Tailrace: its first line is not tailrace-export/1. Check the file name.',
    );
  }
  const fields = new Map(
    lines.map((line): [string, string] => {
      const [name = '', value = ''] = line.split(/: (.*)/s, 2);
      return [name, value];
    }),
  );
  if (version > formatVersion) {
    const writer = fields.get('release') ?? 'a later one';
    throw invalid(
      `The export has format ${version}, and this release reads format ${formatVersion}. ` +
        `Use the release that wrote it (${writer}), or a later one.`,
    );
  }
  const sealed = Buffer.from(rest.join(''), 'base64');
  const bytes = Number(fields.get('bytes') ?? NaN);
  if (!fields.has('sha256') || Number.isNaN(bytes) || sealed.length < bytes) {
    const found = Number.isNaN(bytes) ? '' : `: it has ${sealed.length} of ${bytes} bytes`;
    throw invalid(`The export is incomplete${found}. Copy it again, or use another one.`);
  }
  const header = `${[first, ...lines.filter((line) => !/^(?:bytes|sha256): /.test(line))].join('\n')}\n`;
  if (checksum(header, sealed) !== fields.get('sha256')) {
    throw invalid('The export is damaged: its checksum differs. Copy it again, or use another one.');
  }
  return { header, fields, sealed };
}

function readContent(content: Buffer): Configuration {
  const parsed: unknown = JSON.parse(gunzipSync(content, { maxOutputLength: mostContentBytes }).toString());
  const problems: string[] = [];
  const checked = <T>(
    list: 'sources' | 'destinations' | 'notifications',
    check: (entry: unknown) => { readonly value: T } | { readonly problems: readonly Problem[] },
  ): T[] =>
    items(field(parsed, list)).flatMap((entry, index) => {
      const result = check(entry);
      if ('value' in result) return [result.value];
      problems.push(
        ...result.problems.map(({ path, message }) => `${formatPath([list, index, ...path])}: ${message}`),
      );
      return [];
    });
  // A later release may have added keys, which are kept.
  const options = { allowUnknownKeys: true };
  const sources = checked('sources', (entry) => checkSource(entry, options));
  const destinations = checked('destinations', (entry) => checkDestination(entry, options));
  const notifications = checked('notifications', (entry) => checkNotification(entry, options));
  // An export of a release before has none, and says nothing about those that exist.
  const known = field(parsed, 'notifications') !== undefined;
  if (problems.length === 0) return { sources, destinations, ...(known && { notifications }) };
  throw invalid(
    [
      'The export has entries that this release does not accept. Use the release that wrote it.',
      ...problems,
    ].join('\n'),
  );
}

function checksum(header: string, sealed: Buffer): string {
  return hash('sha256', Buffer.concat([Buffer.from(header), sealed]), 'hex');
}

function invalid(message: string): TailraceError {
  return new TailraceError('invalid-export', message);
}
